from django.urls import path

from hits.views import review, review_acts, review_people

STUDY = "review/<slug:slug>/"
PAGE = f"{STUDY}<uuid:key>/"

urlpatterns = [
    path("review/", review.studies, name="review"),
    path(STUDY, review.desk, name="review_desk"),
    path(f"{STUDY}decided/", review.decided, name="review_decided"),
    path(f"{STUDY}undo/", review.undo, name="review_undo"),
    path(f"{STUDY}many/", review_acts.many, name="review_many"),
    path(f"{STUDY}many/<int:job>/undo/", review_acts.many_back, name="review_many_back"),
    path(f"{STUDY}signals/", review_acts.read_signals, name="review_signals"),
    path(f"{STUDY}people/", review_people.people, name="review_people"),
    path(f"{STUDY}people/<int:person>/", review_people.person, name="review_person"),
    path(f"{STUDY}appeals/<int:pk>/", review_people.answer_appeal, name="answer_appeal"),
    path(f"{STUDY}golds/", review_people.golds, name="review_golds"),
    path(PAGE, review.page, name="review_page"),
    path(f"{PAGE}replay/", review.replay, name="review_replay"),
    path(f"{PAGE}seen/", review.seen, name="review_seen"),
    path(f"{PAGE}refuse/", review_acts.refuse, name="review_refuse"),
    path(f"{PAGE}second/", review_acts.second, name="review_second"),
]

from django.urls import path

from hits.views import worker

urlpatterns = [
    path("<str:signed_key>/", worker.show, name="hit"),
    path("<str:signed_key>/agree", worker.agree, name="hit_agree"),
    path("<str:signed_key>/save", worker.save, name="hit_save"),
    path("<str:signed_key>/submit", worker.submit, name="hit_submit"),
    path("<str:signed_key>/handed-over", worker.handed_over, name="hit_handed_over"),
    path("<str:signed_key>/withdraw", worker.withdraw, name="hit_withdraw"),
    path("<path:anything>", worker.nothing, name="hit_nothing"),
]

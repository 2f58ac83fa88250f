from django.urls import path

from hits.views import review

urlpatterns = [
    path("review/", review.studies, name="review"),
    path("review/<slug:slug>/", review.desk, name="review_desk"),
    path("review/<slug:slug>/decided/", review.decided, name="review_decided"),
    path("review/<slug:slug>/undo/", review.undo, name="review_undo"),
    path("review/<slug:slug>/<uuid:key>/", review.page, name="review_page"),
]

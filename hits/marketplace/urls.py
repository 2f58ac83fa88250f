from django.urls import include, path

from hits.marketplace.signing import certificate

urlpatterns = [
    path("SimpleNotificationService-<int:key>.pem", certificate, name="signing-certificate"),
    path("", include("hits.marketplace.site.urls")),
]

from django.urls import include, path

from hits.marketplace.signing import certificate

urlpatterns = [
    path("SimpleNotificationService-<int:key>.pem", certificate, name="signing-certificate"),
    path("", include("hits.marketplace.site.urls")),
]

handler400 = "hits.marketplace.site.failures.bad_request"
handler403 = "hits.marketplace.site.failures.forbidden"
handler404 = "hits.marketplace.site.failures.not_found"
handler500 = "hits.marketplace.site.failures.server_error"

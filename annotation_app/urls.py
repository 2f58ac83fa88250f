from django.contrib import admin
from django.urls import include, path, register_converter

from hits.views import notifications, public
from hits.views.converters import Sha256Converter

register_converter(Sha256Converter, "sha256")

urlpatterns = [
    path("health/", public.health, name="health"),
    path("favicon.ico", public.favicon, name="favicon"),
    path("images/<sha256:sha256>", public.image, name="image"),
    path("notifications/<slug:channel>/", notifications.receive, name="notifications"),
    path("admin/", admin.site.urls),
    path("api/", include("hits.api.urls")),
    path("hit/", include("hits.views.urls_worker")),
    path("", include("hits.views.urls_rater")),
    path("", include("hits.views.urls_review")),
    path("", include("hits.views.urls_research")),
]

handler400 = "hits.views.failures.bad_request"

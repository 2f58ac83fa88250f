from django.urls import path, re_path, register_converter

from hits.marketplace.site import accounts, finding, mine, submitting, working
from hits.marketplace.site.converters import IdConverter

register_converter(IdConverter, "id")

urlpatterns = [
    path("", finding.hits, name="hits"),
    path("health/", finding.health, name="health"),
    path("login/", accounts.login, name="login"),
    path("register/", accounts.register, name="register"),
    path("logout/", accounts.logout, name="logout"),
    path("hits/<id:hit_id>/", finding.preview, name="preview"),
    path("projects/<id:hit_group_id>/accept/", working.accept, name="accept"),
    path("assignments/<id:assignment_id>/", working.assignment, name="assignment"),
    path("assignments/<id:assignment_id>/state/", working.state, name="state"),
    path("assignments/<id:assignment_id>/return/", working.give_back, name="return"),
    path("dashboard/", mine.dashboard, name="dashboard"),
    path("earnings/", mine.earnings, name="earnings"),
    path("messages/", mine.messages, name="messages"),
    path("qualifications/", mine.qualifications, name="qualifications"),
    path(
        "qualifications/<id:kind_id>/request/",
        mine.request_qualification,
        name="request_qualification",
    ),
    # turkSubmitTo ends with a slash, and many pages join it with another one.
    re_path(r"^/?mturk/externalSubmit$", submitting.external_submit, name="external_submit"),
]

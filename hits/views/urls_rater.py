from django.urls import path

from hits.views import account, notes, rater, work

urlpatterns = [
    path("", rater.home, name="home"),
    path("login/", account.log_in, name="login"),
    path("logout/", account.log_out, name="logout"),
    path("password/", account.ask_for_reset, name="password_reset"),
    path("password/sent/", account.reset_asked, name="password_reset_done"),
    path("password/<uidb64>/<token>/", account.reset_password, name="password_reset_confirm"),
    path("password/changed/", account.password_was_reset, name="password_reset_complete"),
    path("join/<str:token>/", account.join, name="join"),
    path("studies/<slug:slug>/consent/", rater.consent, name="consent"),
    path("studies/<slug:slug>/withdraw/", rater.withdraw, name="withdraw"),
    path("studies/<slug:slug>/next/", rater.next_page, name="next_page"),
    path("work/", rater.own_work, name="own_work"),
    path("studies/<slug:slug>/appeal/", rater.appeal, name="appeal"),
    path("notes/<str:signed>/", notes.note, name="note"),
    path("work/<uuid:key>/", work.page, name="page"),
    path("work/<uuid:key>/done/", rater.page_done, name="page_done"),
    path("work/<uuid:key>/save", work.page_save, name="page_save"),
    path("work/<uuid:key>/submit", work.page_submit, name="page_submit"),
    path("work/<uuid:key>/return", work.page_return, name="page_return"),
]

"""Logging in, a forgotten password, and joining by an invitation."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth import views as django_views
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from hits.models import Invitation, Membership, Role, Study, User
from hits.pipeline import people
from hits.pipeline.errors import Closed, NotAllowed, Taken
from hits.views.account_forms import JoinForm, LoginForm

log_in = django_views.LoginView.as_view(
    template_name="account/login.html",
    authentication_form=LoginForm,
    redirect_authenticated_user=True,
)
log_out = django_views.LogoutView.as_view()
ask_for_reset = django_views.PasswordResetView.as_view(
    template_name="account/password_reset.html",
    email_template_name="account/password_reset_email.txt",
    subject_template_name="account/password_reset_subject.txt",
)
reset_asked = django_views.PasswordResetDoneView.as_view(
    template_name="account/password_reset_done.html"
)
reset_password = django_views.PasswordResetConfirmView.as_view(
    template_name="account/password_reset_confirm.html"
)
password_was_reset = django_views.PasswordResetCompleteView.as_view(
    template_name="account/password_reset_complete.html"
)


@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    try:
        if isinstance(request.user, User):
            if joined := people.joined(token=token, user=request.user):
                return _welcome(request, joined)
            return _join_as(request, request.user, people.invitation_by_token(token))
        invitation = people.invitation_by_token(token)
        return _join_anew(request, invitation)
    except (Closed, NotAllowed) as refusal:
        context = {"why": refusal.message}
        status = 410 if isinstance(refusal, Closed) else 404
        return render(request, "account/no_invitation.html", context, status=status)


def _join_as(request: HttpRequest, user: User, invitation: Invitation) -> HttpResponse:
    if request.method == "POST":
        return _welcome(request, people.join(token=invitation.token, user=user))
    return render(request, "account/join.html", {"invitation": invitation})


def _join_anew(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    form = JoinForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user = people.accept_invitation(token=invitation.token, **form.cleaned_data)
        except Taken as refusal:
            form.add_error("email", refusal.message)
        else:
            login(request, user, backend=settings.AUTHENTICATION_BACKENDS[-1])
            joined = user.memberships.select_related("study").get(study=invitation.study)
            return _welcome(request, joined)
    return render(request, "account/join.html", {"invitation": invitation, "form": form})


def _welcome(request: HttpRequest, membership: Membership) -> HttpResponse:
    """To the study: a rater to its information, the others to their desk."""
    study = membership.study
    if study.state == Study.State.DRAFT and membership.role != Role.RESEARCHER:
        messages.info(request, f"You are in {study.name}, which is not open yet. Come back then.")
        return redirect("home")
    if membership.role == Role.RATER:
        return redirect("consent", slug=study.slug)
    desk = "review_desk" if membership.role == Role.REVIEWER else "study"
    return redirect(desk, slug=study.slug)

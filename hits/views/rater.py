"""A rater's pages: home, consent, the page of a HIT, and what follows it."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from hits.models import Account, Assignment, Consent, Participation, Role, Study, StudyVersion, User
from hits.pipeline import limits, people, places, standing, training
from hits.pipeline.draw import draw
from hits.pipeline.errors import Closed, NotAllowed, NothingLeft, PipelineError
from hits.pipeline.feedback import feedback_on
from hits.pipeline.own_work import earned, own_pages, told, with_seconds
from hits.pipeline.statements import Joined
from hits.pipeline.terms import Terms, terms_of
from hits.views.access import desks, login_required, user_of
from hits.views.notes import SENT, page_named

PAGES_LISTED = 25
NOTHING_LEFT = "Every question is answered, or with somebody else at the moment."

_RATED = Joined(
    """hits_study s JOIN hits_studyversion v ON v.id = s.version_id
    WHERE s.slug = %(slug)s AND s.state <> 'draft' AND EXISTS (
        SELECT 1 FROM hits_membership m
        WHERE m.study_id = s.id AND m.user_id = %(user)s AND m.role = 'rater')""",
    s=Study,
    v=StudyVersion,
)


@dataclass(frozen=True, slots=True)
class Work:
    """A study as its rater's home shows it."""

    study: Study
    participation: Participation | None
    open_page: Assignment | None
    has_agreed: bool
    has_withdrawn: bool = False
    late_page: Assignment | None = None
    has_tries: bool = True
    has_places: bool = True

    @property
    def terms(self) -> Terms:
        assert self.study.version is not None
        return terms_of(self.study, self.study.version)

    @property
    def can_go_on(self) -> bool:
        return self.study.state == Study.State.OPEN and not self.over

    @property
    def over(self) -> str:
        """Why there is nothing for this person, now or at all, while the study is open."""
        nothing_left = "" if self.has_places else NOTHING_LEFT
        theirs, version = self.participation, self.study.version
        if theirs is None or version is None:
            return nothing_left
        if not self.has_tries:
            return training.NO_MORE_TRIES.format(person=theirs.person_id)
        return limits.why_over(version, theirs) or nothing_left

    @property
    def trains_first(self) -> bool:
        theirs, version = self.participation, self.study.version
        assert version is not None
        return training.is_due(
            version,
            has_qualified=theirs is not None and theirs.qualified_at is not None,
            has_started=theirs is not None and theirs.started_at is not None,
        )

    @property
    def answered(self) -> int:
        return _answered(self.open_page) if self.open_page else 0

    @property
    def answered_late(self) -> int:
        return _answered(self.late_page) if self.late_page else 0

    @property
    def answers_today(self) -> int:
        if self.participation is None or self.participation.day != timezone.localdate():
            return 0
        return self.participation.judgments_that_day


@login_required
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    theirs = desks(user)
    if not theirs["may_rate"] and (theirs["may_research"] or theirs["may_review"]):
        return redirect("research" if theirs["may_research"] else "review")
    works = _works(user)
    taken_part = [work.participation for work in works if work.participation]
    return render(
        request,
        "account/home.html",
        {
            **theirs,
            "works": works,
            "next": _next_thing(works),
            "answers_today": sum(work.answers_today for work in works),
            "answers": sum(each.judgments_done for each in taken_part),
            "pages": sum(each.pages_done for each in taken_part),
        },
    )


def _works(user: User) -> list[Work]:
    account = people.account_of(user)
    person_id = account.person_id
    rated = Study.objects.of(user, Role.RATER).select_related("version")
    studies = list(rated.exclude(state=Study.State.DRAFT))
    with_places = places.with_places(studies)
    consents = Consent.objects.filter(participation__person_id=person_id).values_list(
        "participation__study_id", "version__number", "withdrawn_at"
    )
    agreed = {study_id: number for study_id, number, withdrawn_at in consents if not withdrawn_at}
    ever_agreed = {study_id for study_id, *_ in consents}
    theirs = {each.study_id: each for each in Participation.objects.filter(person_id=person_id)}
    open_pages, late_pages = _unfinished(account)
    out_of_tries = training.out_of_tries(person_id)
    return [
        Work(
            study=study,
            participation=theirs.get(study.pk),
            open_page=open_pages.get(study.pk),
            has_agreed=agreed.get(study.pk, 0) >= study.version.consent_number,
            has_withdrawn=study.pk in ever_agreed and study.pk not in agreed,
            late_page=late_pages.get(study.pk) if study.pk in agreed else None,
            has_tries=study.pk not in out_of_tries,
            has_places=study.pk in with_places or study.pk in open_pages,
        )
        for study in studies
        if study.version is not None
    ]


def _unfinished(account: Account) -> tuple[dict[int, Assignment], dict[int, Assignment]]:
    """By study: the open page, and the newest one with answers whose time ran out."""
    is_open = Q(state=Assignment.State.OPEN, lease_until__gt=timezone.now())
    own = account.assignments.order_by("drawn_at")
    late = own.filter(state__in=[Assignment.State.OPEN, Assignment.State.EXPIRED]).exclude(draft={})
    return (
        {page.study_id: page for page in own.filter(is_open)},
        {page.study_id: page for page in late.exclude(is_open) if _answered(page)},
    )


def _answered(page: Assignment) -> int:
    """How many questions of a page have an answer in its draft."""
    names = (name for name, values in page.draft.items() if any(values))
    return len({name.split("-")[0] for name in names if not name.endswith(("-ms", "-problem"))})


def _next_thing(works: list[Work]) -> Work | None:
    """An open page first, then a study that goes on, then one that waits for consent."""
    ranked = [
        [work for work in works if work.open_page],
        [work for work in works if work.can_go_on and work.has_agreed],
        [work for work in works if work.can_go_on and not work.has_withdrawn],
    ]
    return next((found[0] for found in ranked if found), None)


@login_required
@require_http_methods(["GET", "POST"])
def consent(request: HttpRequest, slug: str) -> HttpResponse:
    study = _study(request, slug)
    account = people.account_of(user_of(request))
    if request.method == "POST":
        try:
            people.give_consent(study=study, account=account)
        except Closed as refusal:
            messages.warning(request, refusal.message)
            return redirect("home")
        return _draw_and_show(request, study, instructions=True)
    participation = Participation.objects.filter(study=study, person_id=account.person_id).first()
    assert study.version is not None
    return render(
        request,
        "account/consent.html",
        {
            "study": study,
            "terms": terms_of(study, study.version),
            "has_agreed": participation is not None and participation.has_agreed_to(study.version),
        },
    )


@login_required
@require_http_methods(["GET", "POST"])
def withdraw(request: HttpRequest, slug: str) -> HttpResponse:
    study = _study(request, slug)
    if request.method == "POST":
        people.withdraw(study=study, account=people.account_of(user_of(request)))
        messages.success(request, f"You have withdrawn from {study.name}.")
        return redirect("home")
    return render(request, "account/withdraw.html", {"study": study})


@login_required
@require_POST
def next_page(request: HttpRequest, slug: str) -> HttpResponse:
    return _draw_and_show(request, _study(request, slug))


def _draw_and_show(
    request: HttpRequest, study: Study, *, instructions: bool = False
) -> HttpResponse:
    account = people.account_of(user_of(request))
    try:
        assignment = draw(study=study, account=account)
    except training.NotQualified as refusal:
        messages.warning(request, refusal.message)
    except NotAllowed as refusal:
        if _must_agree_first(study, account.person_id):
            return redirect("consent", slug=study.slug)
        messages.error(request, refusal.message)
    except (NothingLeft, Closed) as refusal:
        messages.warning(request, refusal.message)
    else:
        address = reverse("page", kwargs={"key": assignment.key})
        return redirect(f"{address}?first" if instructions else address)
    return redirect("home")


def _must_agree_first(study: Study, person_id: int) -> bool:
    participation = Participation.objects.filter(study=study, person_id=person_id).first()
    assert study.version is not None
    return participation is None or not participation.has_agreed_to(study.version)


@login_required
@require_GET
def page_done(request: HttpRequest, key: UUID) -> HttpResponse:
    user = user_of(request)
    assignment = get_object_or_404(
        Assignment.objects.select_related("study__version", "version"),
        key=key,
        account__user=user,
        state=Assignment.State.SUBMITTED,
    )
    participation = Participation.objects.get(
        study=assignment.study_id, person=assignment.person_id
    )
    feedback = feedback_on(assignment)
    has_tries = feedback is None or feedback.has_qualified or feedback.may_try_again
    work = Work(
        assignment.study, participation, open_page=None, has_agreed=True, has_tries=has_tries
    )
    context = {"assignment": assignment, "work": work, "feedback": feedback}
    return render(request, "work/done.html", context)


@login_required
@require_GET
def own_work(request: HttpRequest) -> HttpResponse:
    """The pages one submitted, and what was decided on paying them."""
    user = user_of(request)
    pages = own_pages(user).filter(state=Assignment.State.SUBMITTED).order_by("-pk")
    before = _key(request.GET.get("before", ""))
    if before is not None:
        pages = pages.filter(pk__lt=own_pages(user).filter(key=before).values("pk"))
    found = list(with_seconds(pages)[: PAGES_LISTED + 1])
    context = desks(user) | {
        "pages": [(page, told(page)) for page in found[:PAGES_LISTED]],
        "older": found[PAGES_LISTED - 1].key if len(found) > PAGES_LISTED else None,
        "is_first": before is None,
        "earned": earned(user),
        "records": standing.own_records(user),
    }
    return render(request, "account/own_work.html", context)


@login_required
@require_POST
def appeal(request: HttpRequest, slug: str) -> HttpResponse:
    """A note to the reviewers of a study in which one worked."""
    user = user_of(request)
    worked = Study.objects.filter(assignments__account__user=user).distinct()
    study = get_object_or_404(worked, slug=slug)
    text = request.POST.get("text", "").replace("\0", "").strip()
    try:
        account = people.account_of(user)
        standing.appeal(study=study, account=account, text=text, page=page_named(request))
    except PipelineError as refusal:
        messages.warning(request, refusal.message)
    else:
        messages.success(request, SENT)
    return redirect("own_work")


def _key(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _study(request: HttpRequest, slug: str) -> Study:
    """A study this person rates in, once it has been opened."""
    found = _RATED.first(slug=slug, user=user_of(request).pk)
    if found is None:
        raise Http404
    study: Study = found[0]
    study.version = found[1]
    return study

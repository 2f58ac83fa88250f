"""A worker's own: work done, money, messages, qualifications."""

from decimal import Decimal
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet, Subquery, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from hits.marketplace import qualifying, work
from hits.marketplace.eligibility import system_scores
from hits.marketplace.errors import Refused
from hits.marketplace.models import (
    Assignment,
    Bonus,
    Message,
    Payment,
    Qualification,
    QualificationRequest,
    QualificationType,
    Worker,
)
from hits.marketplace.site.finding import in_hand
from hits.marketplace.site.guards import for_workers, show, tell
from hits.marketplace.site.offers import SYSTEM_NAMES

A_PAGE = 25
NO_TESTS = "This qualification needs a test, which this site does not give."
STATES = {
    "pending": Assignment.Status.SUBMITTED,
    "approved": Assignment.Status.APPROVED,
    "rejected": Assignment.Status.REJECTED,
}


@require_GET
@for_workers
def dashboard(request: HttpRequest, worker: Worker) -> HttpResponse:
    work.settle_due()
    state = request.GET.get("state", "")
    statuses = [STATES[state]] if state in STATES else Assignment.HANDED_IN
    return show(
        request,
        worker,
        "dashboard",
        state=state,
        counts=_counts(worker),
        earned=_earned(worker),
        in_hand=in_hand(worker),
        page=_page(request, _handed_in(worker).filter(status__in=statuses)),
        welcome="welcome" in request.GET,
    )


def _handed_in(worker: Worker) -> QuerySet[Assignment]:
    granted = Bonus.objects.filter(assignment=OuterRef("pk")).order_by().values("assignment")
    return (
        Assignment.objects.filter(worker=worker, status__in=Assignment.HANDED_IN)
        .select_related("hit__hit_type__requester")
        .annotate(bonus=Subquery(granted.values(total=Sum("amount"))))
        .order_by("-submitted_at", "-id")
    )


def _counts(worker: Worker) -> dict[str, int]:
    by_state = {name: Count("id", filter=Q(status=status)) for name, status in STATES.items()}
    counts = Assignment.objects.filter(worker=worker).aggregate(**by_state)
    return counts | {"submitted": sum(counts.values())}


def _earned(worker: Worker) -> dict[str, Decimal]:
    kinds = (Payment.Kind.REWARD, Payment.Kind.BONUS)
    sums = {kind.value: Sum("amount", filter=Q(kind=kind), default=Decimal(0)) for kind in kinds}
    earned = worker.payments.aggregate(**sums)
    return earned | {"all": sum(earned.values(), Decimal(0))}


@require_GET
@for_workers
def earnings(request: HttpRequest, worker: Worker) -> HttpResponse:
    work.settle_due()
    rows = Payment.objects.filter(worker=worker).order_by("-paid_at", "-id")
    rows = rows.select_related("requester", "assignment__hit__hit_type", "bonus")
    page = _page(request, rows)
    return show(request, worker, "earnings", earned=_earned(worker), page=page)


@require_GET
@for_workers
def messages(request: HttpRequest, worker: Worker) -> HttpResponse:
    rows = Message.objects.filter(worker=worker).order_by("-created_at", "-id")
    return show(request, worker, "messages", page=_page(request, rows.select_related("requester")))


@require_GET
@for_workers
def qualifications(request: HttpRequest, worker: Worker) -> HttpResponse:
    work.settle_due()
    words = request.GET.get("q", "").replace("\0", "")[:100]
    held = Qualification.objects.filter(
        worker=worker, is_granted=True, kind__deleted_at__isnull=True
    )
    asked = QualificationRequest.objects.filter(worker=worker, kind__deleted_at__isnull=True)
    return show(
        request,
        worker,
        "qualifications",
        words=words,
        scores=[(SYSTEM_NAMES[kind], score) for kind, score in system_scores(worker).items()],
        held=held.select_related("kind__requester").order_by("kind__name", "kind_id"),
        requests=asked.exclude(state="granted")
        .select_related("kind__requester")
        .order_by("-submitted_at")[:50],
        page=_page(request, _requestable(worker, words)),
    )


def _requestable(worker: Worker, words: str) -> QuerySet[QualificationType]:
    own = {"kind": OuterRef("pk"), "worker": worker}
    held = Qualification.objects.filter(**own, is_granted=True)
    asked = QualificationRequest.objects.filter(**own)
    once = Q(retry_seconds__isnull=True)
    found = QualificationType.objects.filter(
        ~Exists(held),
        ~Exists(asked.filter(state="pending")),
        ~(once & Q(Exists(asked))),
        is_active=True,
        deleted_at__isnull=True,
    ).select_related("requester")
    for word in words.split():
        in_text = Q(name__icontains=word) | Q(description__icontains=word)
        found = found.filter(in_text | Q(keywords__icontains=word))
    return found.order_by("name", "pk")


@require_POST
@for_workers
def request_qualification(request: HttpRequest, worker: Worker, kind_id: str) -> HttpResponse:
    kind = QualificationType.objects.filter(qualification_type_id=kind_id).first()
    if kind is None:
        raise Http404
    if kind.test:
        return tell(request, worker, "Not requested", NO_TESTS, status=409)
    try:
        qualifying.request(worker=worker, kind=kind)
    except Refused as refusal:
        return tell(request, worker, "Not requested", refusal.message, status=409)
    return redirect("qualifications")


def _page(request: HttpRequest, rows: QuerySet[Any, Model]) -> Page[Any]:
    return Paginator(rows, A_PAGE).get_page(request.GET.get("page"))

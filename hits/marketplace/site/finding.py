"""The HITs on offer, and the preview of one."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET, require_safe

from hits.marketplace import work
from hits.marketplace.eligibility import Standing
from hits.marketplace.errors import Refused
from hits.marketplace.models import HIT, Assignment, Worker
from hits.marketplace.site.forms import Search
from hits.marketplace.site.guards import for_workers, origin, show, tell
from hits.marketplace.site.offers import found, reasons

A_PAGE = 20


@require_safe
def health(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")


@require_GET
@for_workers
def hits(request: HttpRequest, worker: Worker) -> HttpResponse:
    form = Search(request.GET)
    form.is_valid()
    asked = form.cleaned_data
    offers = found(
        work.available(worker),
        words=asked.get("q", ""),
        sort=asked.get("sort", ""),
        qualified=asked.get("qualified", False),
    )
    page = Paginator(offers, A_PAGE).get_page(request.GET.get("page"))
    why = reasons(list(page), Standing.of(worker))
    return show(
        request,
        worker,
        "hits",
        form=form,
        page=page,
        rows=[(offer, why[offer.hit_type.pk]) for offer in page],
        in_hand=in_hand(worker),
        returned="returned" in request.GET,
    )


def in_hand(worker: Worker) -> list[Assignment]:
    mine = Assignment.objects.filter(worker=worker, status=Assignment.Status.ACCEPTED)
    return list(mine.select_related("hit__hit_type__requester").order_by("deadline")[:50])


@require_GET
@for_workers
def preview(request: HttpRequest, worker: Worker, hit_id: str) -> HttpResponse:
    hit = HIT.objects.filter(hit_id=hit_id).first()
    if hit is None:
        raise Http404
    try:
        offer = work.preview(worker=worker, hit=hit)
    except Refused as refusal:
        return tell(request, worker, "No preview", refusal.message, status=409)
    return show(
        request,
        worker,
        "preview",
        hit=offer.hit,
        kind=offer.hit_type,
        may_accept=offer.may_accept,
        unmet=reasons([offer], Standing.of(worker))[offer.hit_type.pk],
        address=work.frame_address(hit=offer.hit, assignment=None, submit_to=f"{origin(request)}/"),
    )

"""externalSubmit: the requester's page hands in what the worker did, from inside its frame. No
cookie comes along, so the assignment's id says whose work it is; and where the page names its
worker and its HIT too, they must be those of the assignment."""

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt

from hits.marketplace import work
from hits.marketplace.errors import Refused
from hits.marketplace.models import Assignment
from hits.marketplace.site.guards import FRAMED_BY_ITSELF

RESERVED = {"assignmentId", "hitId", "turkSubmitTo", "workerId"}
NOT_POSTED = (405, "Not submitted", "Work is submitted by a form whose method is POST.")


@csrf_exempt
@xframe_options_exempt
@never_cache
def external_submit(request: HttpRequest) -> HttpResponse:
    work.settle_due()
    status, title, message = _taken(request.POST) if request.method == "POST" else NOT_POSTED
    context = {"title": title, "message": message, "is_done": status == 200}
    response = render(request, "marketplace/submitted.html", context, status=status)
    response.headers["Content-Security-Policy"] = FRAMED_BY_ITSELF
    return response


def _taken(posted: QueryDict) -> tuple[int, str, str]:
    assignment_id = posted.get("assignmentId", "").replace("\0", "")
    if assignment_id == work.NOT_ACCEPTED:
        return 409, "Not submitted", "This is a preview. Accept the HIT first."
    named = Assignment.objects.filter(assignment_id=assignment_id)
    assignment = named.filter(status__in=Assignment.LIVE).first() or named.order_by("id").last()
    if assignment is None:
        return 404, "Not submitted", "The marketplace knows no such assignment."
    whose = {"workerId": assignment.worker.worker_id, "hitId": assignment.hit.hit_id}
    if any(posted.get(name, known) != known for name, known in whose.items()):
        return 409, "Not submitted", "This HIT is not yours any more: somebody else has it."
    try:
        work.submit(assignment=assignment, answers=_answers(posted))
    except Refused as refusal:
        if refusal.code == "done":
            return 200, "Submitted", "The marketplace has this work already; nothing was changed."
        return 409, "Not submitted", refusal.message
    return 200, "Submitted", "The marketplace has your work."


def _answers(posted: QueryDict) -> list[tuple[str, str]]:
    """Several values of one name are one answer, joined as Mechanical Turk joins them."""
    return [
        (name, "|".join(str(value) for value in values))
        for name, values in posted.lists()
        if name not in RESERVED
    ]

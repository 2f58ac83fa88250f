"""What reviewers said to a worker of a marketplace, and the worker's note to them. The address is
in the marketplace's message and needs no login."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from hits.pipeline import letters, standing
from hits.pipeline.errors import NotAllowed, PipelineError
from hits.pipeline.own_work import told

SENT = "Sent to the reviewers. You will read their answer here."


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def note(request: HttpRequest, signed: str) -> HttpResponse:
    try:
        study, account = letters.addressee(signed)
    except NotAllowed as refusal:
        context = {"why": refusal.message}
        return render(request, "account/no_note.html", context, status=404)
    error, text = "", request.POST.get("text", "").replace("\0", "").strip()
    if request.method == "POST":
        try:
            standing.appeal(study=study, account=account, text=text, page=page_named(request))
        except PipelineError as refusal:
            error = refusal.message
        else:
            messages.success(request, SENT)
            return redirect("note", signed=signed)
    record = standing.own_record(account, study)
    shown: dict[str, Any] = {
        "record": record,
        "refused": [(page, told(page)) for page in record.refused],
        "error": error,
        "text": text,
    }
    return render(request, "account/note.html", shown, status=422 if error else 200)


def page_named(request: HttpRequest) -> UUID | None:
    """The page that a note is about, as its form has it."""
    try:
        return UUID(request.POST.get("page", ""))
    except ValueError:
        return None

"""What the page of a HIT sends while it is answered, alike for raters and workers."""

from collections.abc import Callable

from django.http import HttpRequest, JsonResponse

from hits.pipeline.errors import Closed, Stale
from hits.records import Fields, Receipt, Saved


def fields_of(request: HttpRequest) -> Fields:
    return dict(request.POST.lists())


def revision_of(request: HttpRequest) -> int:
    """The newest draft that a submission knows of; one that does not say knows of none."""
    try:
        return int(request.POST.get("revision", ""))
    except ValueError:
        return 0


def wants_json(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")


def answer_to_save(request: HttpRequest, save: Callable[[Fields, int], Saved]) -> JsonResponse:
    try:
        saved = save(fields_of(request), int(request.POST.get("revision", "")))
    except ValueError:
        return refuse(400, "revision", "A save needs the number of its revision.")
    except Stale as refusal:
        return refuse(409, "newer", refusal.message)
    except Closed as refusal:
        return refuse(409, "closed", refusal.message)
    return JsonResponse({"saved_at": saved.saved_at.isoformat(), "revision": saved.revision})


def answer_to_submit(receipt: Receipt, next_url: str) -> JsonResponse:
    return JsonResponse(
        {
            "receipt": receipt.key,
            "submitted_at": receipt.submitted_at.isoformat(),
            "next_url": next_url,
        }
    )


def refuse(status: int, error: str, message: str) -> JsonResponse:
    return JsonResponse({"error": error, "message": message}, status=status)

"""Where marketplaces send hints. A hint, once its sender is proven, only asks for a look."""

import structlog
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from hits.channels.configured import channel as channel_named
from hits.channels.contract import Refusal
from hits.pipeline.reconcile import ask_to_reconcile

log = structlog.get_logger("notifications")


@csrf_exempt
@require_POST
def receive(request: HttpRequest, channel: str) -> HttpResponse:
    if channel not in settings.CHANNELS:
        raise Http404
    try:
        hit_ids = channel_named(channel).parse_event(request.headers, request.body)
    except Refusal as refusal:
        log.warning("hint refused", channel=channel, why=str(refusal))
        return HttpResponse(status=403)
    ask_to_reconcile(channel=channel, hit_ids=hit_ids)
    return HttpResponse(status=204)

"""What anybody may ask for: images by their content, and whether the service is well."""

from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    JsonResponse,
)
from django.templatetags.static import static
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from hits.models import Blob
from hits.pipeline import blobs

FOR_EVER = "public, max-age=31536000, immutable"


@require_safe
def image(request: HttpRequest, sha256: str) -> HttpResponse | FileResponse:
    if request.headers.get("If-None-Match") == f'"{sha256}"':
        return HttpResponse(status=304)
    blob = Blob.objects.filter(pk=sha256).first()
    if blob is None:
        raise Http404
    if blob.bucket:
        redirect = HttpResponseRedirect(blobs.presigned_url(blob))
        redirect.headers["Cache-Control"] = "private, max-age=60"
        return redirect
    response = FileResponse(blobs.path_of(sha256).open("rb"), content_type=blob.content_type)
    response.headers["Cache-Control"] = FOR_EVER
    response.headers["ETag"] = f'"{sha256}"'
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


@require_safe
def favicon(request: HttpRequest) -> HttpResponseRedirect:
    """Where browsers look for an icon on pages that name none, such as the admin site's."""
    return HttpResponseRedirect(static("css/icon.svg"))


@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """200 when the database and Redis answer, else 503 and which of them does not."""
    parts = {"database": _database_answers(), "redis": _redis_answers()}
    return JsonResponse(parts, status=200 if all(parts.values()) else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _redis_answers() -> bool:
    try:
        cache.get("health")
    except RedisError:
        return False
    return True

"""Files over HTTP: whole or one range of them, so that a download that broke off goes on."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_CHUNK = 64 * 1024

AnyResponse = HttpResponse | StreamingHttpResponse | FileResponse


def file_response(request: HttpRequest, path: Path, *, name: str, sha256: str) -> AnyResponse:
    """As a download. What never changes may be kept for good by whoever asked."""
    size = path.stat().st_size
    etag = f'"{sha256}"'
    asked = _asked(request, size, etag)
    response: AnyResponse
    if asked is None:
        response = FileResponse(
            path.open("rb"), as_attachment=True, filename=name, content_type=_BYTES
        )
    elif asked.start >= size:
        response = HttpResponse(status=416, content_type=_BYTES)
        response.headers["Content-Range"] = f"bytes */{size}"
    else:
        response = _part(path, asked, size)
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
    return response


_BYTES = "application/octet-stream"


def _asked(request: HttpRequest, size: int, etag: str) -> range | None:
    """None is the whole file: also for ranges that make no sense, for several at once, and where
    the part that is there already was of another file."""
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    if found is None or request.headers.get("If-Range", etag) != etag:
        return None
    first, last = found.groups()
    if not first:
        return range(max(size - int(last), 0), size) if last and int(last) else None
    if last and int(last) < int(first):
        return None
    return range(int(first), min(int(last) + 1, size) if last else max(size, int(first)))


def _part(path: Path, asked: range, size: int) -> StreamingHttpResponse:
    file = path.open("rb")
    file.seek(asked.start)
    response = StreamingHttpResponse(
        _chunks(file, asked.stop - asked.start), status=206, content_type=_BYTES
    )
    response.headers["Content-Length"] = str(asked.stop - asked.start)
    response.headers["Content-Range"] = f"bytes {asked.start}-{asked.stop - 1}/{size}"
    return response


def _chunks(file: IO[bytes], left: int) -> Iterator[bytes]:
    with file:
        while left and (data := file.read(min(_CHUNK, left))):
            left -= len(data)
            yield data

"""The bytes of images: on disk under their hash, or left in a bucket and signed for."""

import io
import os
import tempfile
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from hits.importers import s3
from hits.models import Blob

SIGNED_FOR_SECONDS = 600


def path_of(sha256: str) -> Path:
    folder: Path = settings.DATA_DIR / "blobs" / sha256[:2]
    return folder / sha256[2:]


def store(sha256: str, data: bytes) -> None:
    """Whole and on the disk, or not there at all."""
    path = path_of(sha256)
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix="new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def presigned_url(blob: Blob) -> str:
    """Made anew each time; the type is ours and not what the bucket says."""
    url: str = s3.client(settings.S3_ENDPOINT_URL).generate_presigned_url(
        "get_object",
        Params={
            "Bucket": blob.bucket,
            "Key": blob.object_key,
            "ResponseContentType": blob.content_type,
        },
        ExpiresIn=SIGNED_FOR_SECONDS,
    )
    return url


def open_blob(blob: Blob) -> BinaryIO:
    if not blob.bucket:
        return path_of(blob.sha256).open("rb")
    found = s3.client(settings.S3_ENDPOINT_URL).get_object(Bucket=blob.bucket, Key=blob.object_key)
    return io.BytesIO(found["Body"].read())

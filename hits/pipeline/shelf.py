"""Shelf: where the files of releases stand, below DATA_DIR or in a bucket. A release is there once
its row is; files without a row are of one that was not finished, and the next one writes over
them."""

import os
import shutil
from pathlib import Path

from boto3.s3.transfer import TransferConfig
from django.conf import settings

from hits.importers import s3
from hits.models import Release, ReleaseFile

MEGABYTE = 1024 * 1024
_IN_PARTS = TransferConfig(
    multipart_threshold=8 * MEGABYTE, multipart_chunksize=8 * MEGABYTE, max_concurrency=2
)


def place_for(name: str, version: str) -> str:
    return "/".join(filter(None, [settings.RELEASES_URL, name, version]))


def is_in_a_bucket(release: Release) -> bool:
    return release.place.startswith(s3.SCHEME)


def path_of(file: ReleaseFile) -> Path:
    """Of a release that stands on disk."""
    return _folder(file.release) / file.name


def address_of(file: ReleaseFile) -> str:
    """Where somebody finds it who may look there."""
    in_bucket = is_in_a_bucket(file.release)
    return f"{file.release.place}/{file.name}" if in_bucket else str(path_of(file))


def room_for(name: str) -> Path:
    """An empty folder in which a release is written before it is put in its place."""
    folder = _root() / name / ".unfinished"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def put(folder: Path, place: str) -> None:
    """What was written, in its place: by one rename on disk, file by file in a bucket."""
    if place.startswith(s3.SCHEME):
        _upload(folder, place)
        shutil.rmtree(folder)
        return
    target = _root() / place
    shutil.rmtree(target, ignore_errors=True)
    folder.rename(target)
    _settle(target.parent)


def link_to(file: ReleaseFile, seconds: int) -> str:
    """An address at the bucket that expires."""
    bucket, prefix = _bucket(file.release.place)
    url: str = s3.client(settings.S3_ENDPOINT_URL).generate_presigned_url(
        "get_object",
        Params={
            "Bucket": bucket,
            "Key": f"{prefix}/{file.name}",
            "ResponseContentDisposition": f'attachment; filename="{file.name}"',
            "ResponseContentType": "application/octet-stream",
        },
        ExpiresIn=seconds,
    )
    return url


def remove(release: Release) -> None:
    if not is_in_a_bucket(release):
        shutil.rmtree(_folder(release), ignore_errors=True)
        return
    bucket, prefix = _bucket(release.place)
    for file in release.files.all():
        s3.client(settings.S3_ENDPOINT_URL).delete_object(
            Bucket=bucket, Key=f"{prefix}/{file.name}"
        )


def _root() -> Path:
    return Path(settings.DATA_DIR) / "releases"


def _folder(release: Release) -> Path:
    """Releases from before there were minor versions have no place of their own."""
    return _root() / (release.place or f"{release.name}/{release.major}")


def _bucket(place: str) -> tuple[str, str]:
    bucket, _, prefix = place.removeprefix(s3.SCHEME).partition("/")
    return bucket, prefix


def _upload(folder: Path, place: str) -> None:
    client = s3.client(settings.S3_ENDPOINT_URL)
    bucket, prefix = _bucket(place)
    for path in sorted(folder.iterdir()):
        _forget_parts(bucket, f"{prefix}/{path.name}")
        client.upload_file(str(path), bucket, f"{prefix}/{path.name}", Config=_IN_PARTS)


def _forget_parts(bucket: str, key: str) -> None:
    """Of an upload that was killed; they would be kept, and paid for, for good."""
    client = s3.client(settings.S3_ENDPOINT_URL)
    for each in client.list_multipart_uploads(Bucket=bucket, Prefix=key).get("Uploads", []):
        client.abort_multipart_upload(Bucket=bucket, Key=each["Key"], UploadId=each["UploadId"])


def _settle(folder: Path) -> None:
    """That a name is there outlives a loss of power only if its folder is on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

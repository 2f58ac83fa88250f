"""The files below a prefix in a bucket, at Amazon or at any endpoint that speaks the same."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import IO, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from hits.importers.entries import Entry, opener
from hits.importers.json_stream import Open
from hits.importers.records import Bad, Refusal, shown

SCHEME = "s3://"
REGION = "us-east-1"
MOST_KEY = 1000
IN_MEMORY = 32 * 1024 * 1024
UNREADABLE = (BotoCoreError, ClientError)


@cache
def client(endpoint_url: str | None) -> Any:
    """Credentials and region come from where boto3 looks for them; threads may share it."""
    session = boto3.session.Session()
    return session.client(
        "s3",
        endpoint_url=endpoint_url,
        region_name=session.region_name or REGION,
        config=Config(
            signature_version="s3v4",
            s3={"addressing_style": "path" if endpoint_url else "auto"},
            retries={"mode": "standard", "max_attempts": 5},
        ),
    )


@dataclass(frozen=True, slots=True)
class S3Source:
    """s3://bucket/prefix: the object of that name and all objects below it."""

    address: str
    endpoint_url: str | None

    def entries(self) -> Iterator[Entry | Refusal]:
        bucket, _, prefix = self.address.removeprefix(SCHEME).partition("/")
        if not bucket:
            raise Bad("no-bucket", f"{shown(self.address)} names no bucket.")
        pages = client(self.endpoint_url).get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=bucket, Prefix=prefix):
            for found in page.get("Contents", []):
                key = found["Key"]
                if key.endswith("/") or not _is_at_or_below(key, prefix):
                    continue
                if len(key) > MOST_KEY:
                    bad = Bad("too-long", f"The key has {len(key):,} characters.")
                    yield bad.refusal("file", shown(key))
                    continue
                yield Entry(
                    name=key,
                    size=found["Size"],
                    open=partial(_fetch, self.endpoint_url, bucket, key),
                    bucket=bucket,
                    object_key=key,
                )


def _is_at_or_below(key: str, prefix: str) -> bool:
    return not prefix or prefix.endswith("/") or key == prefix or key.startswith(prefix + "/")


def _fetch(endpoint_url: str | None, bucket: str, key: str) -> IO[bytes]:
    body = client(endpoint_url).get_object(Bucket=bucket, Key=key)["Body"]
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (the caller closes it)
    with body:
        shutil.copyfileobj(body, file)
    file.seek(0)
    return file


@contextmanager
def fetched_once(entry: Entry) -> Iterator[Open]:
    """For a file that is read in several passes."""
    if not entry.bucket:
        yield entry.open
        return
    with tempfile.NamedTemporaryFile() as copy:
        with entry.open() as file:
            shutil.copyfileobj(file, copy)
        copy.flush()
        yield opener(Path(copy.name))

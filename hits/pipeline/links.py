"""Links: addresses of a release's files that need no login and expire."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core import signing
from django.urls import reverse
from django.utils import timezone

from hits.models import Release, ReleaseFile
from hits.pipeline import shelf
from hits.pipeline.errors import Closed

LONGEST_HOURS = 7 * 24
_SALT = "hits.releases"


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    url: str
    expires_at: datetime


def links_to(release: Release, hours: int) -> Iterator[Link]:
    """To every file. In a bucket they lead to the bucket, which lets nobody in any longer."""
    until = timezone.now() + timedelta(hours=hours)
    for file in release.files.select_related("release"):
        yield Link(file.name, _address(file, hours, until), until)


def _address(file: ReleaseFile, hours: int, until: datetime) -> str:
    if shelf.is_in_a_bucket(file.release):
        return shelf.link_to(file, hours * 3600)
    signed = signing.dumps([file.pk, int(until.timestamp())], salt=_SALT)
    return f"{settings.SITE_URL}{reverse('signed_file', args=[file.name])}?key={signed}"


def file_behind(key: str, name: str) -> ReleaseFile:
    """The file that a link leads to while it lasts."""
    try:
        pk, until = signing.loads(key, salt=_SALT)
    except signing.BadSignature:
        raise Closed("This link is not whole. Copy all of it, or ask for a new one.") from None
    if timezone.now().timestamp() > until:
        raise Closed("This link has expired. Ask whoever sent it for a new one.")
    file = ReleaseFile.objects.select_related("release").filter(pk=pk, name=name).first()
    if file is None:
        raise Closed("This link leads to another file, or to none. Ask for a new one.")
    return there(file)


def there(file: ReleaseFile) -> ReleaseFile:
    """The file, unless its release was withdrawn."""
    if file.release.withdrawn_at is not None:
        raise Closed("This release was withdrawn, and its files are gone.")
    return file

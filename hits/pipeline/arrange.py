"""Arrange: what a researcher sets up around a study: corpora, proposals, members, uploads."""

import secrets
from collections.abc import Collection, Sequence
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from hits.models import Corpus, Invitation, Job, Membership, Role, Study, User
from hits.pipeline.errors import Closed, Refused, Taken
from hits.protocol import protocol

LONGEST_NAME = 120
UPLOADS = (".jsonl", ".json", ".csv", ".zip")
UPLOADS_KEPT = timedelta(days=1)
# Where the form for another one is.
RESERVED = frozenset({"new"})


def refuse_reserved(slug: str) -> None:
    if slug.lower() in RESERVED:
        raise Refused(f"{slug!r} cannot be a short name: another page has this address.")


@transaction.atomic
def create_corpus(*, slug: str, name: str, licence: str, by: User) -> Corpus:
    refuse_reserved(slug)
    try:
        return Corpus.objects.create(slug=slug, name=name, licence=licence, owner=by)
    except IntegrityError:
        raise Taken("There is a corpus with this short name.") from None


@transaction.atomic
def choose_proposals(
    *, study: Study, proposals: Collection[int], continues: Collection[Study] = ()
) -> None:
    """The proposals that a draft will be opened from, and the studies whose units it leaves out."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if locked.state != Study.State.DRAFT:
        raise Closed("The units of this study have been made already.")
    chosen = locked.corpus.proposals.filter(pk__in=proposals, finished_at__isnull=False)
    if chosen.count() != len(set(proposals)):
        raise Refused("Choose among the finished proposals of the study's corpus.")
    if chosen.values("direction", "split").distinct().count() > 1:
        raise Refused("Choose proposals of one direction and one split; another is another study.")
    kind = protocol(locked.protocol)
    if chosen.exclude(direction__in=kind.directions).exists():
        raise Refused(f"{kind.name} does not ask about proposals in this direction.")
    locked.proposals.set(chosen)
    locked.continues.set(continues)


def invite(*, study: Study, by: User, role: str, places: int, days: int) -> Invitation:
    return Invitation.objects.create(
        study=study,
        role=role,
        places=places,
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )


def end_invitation(invitation: Invitation) -> None:
    """Nobody joins by it any more; who did stays."""
    now = timezone.now()
    Invitation.objects.filter(pk=invitation.pk, expires_at__gt=now).update(expires_at=now)


@transaction.atomic
def end_membership(membership: Membership) -> None:
    """What the person did stays."""
    study = Study.objects.select_for_update().get(pk=membership.study_id)
    researchers = study.memberships.filter(role=Role.RESEARCHER)
    if membership.role == Role.RESEARCHER and researchers.count() == 1:
        raise Refused("A study keeps at least one researcher.")
    membership.delete()


def name_of_upload(file: UploadedFile) -> str:
    """What its owner calls a file, for people to read and for nothing else."""
    name = "".join(each for each in file.name or "" if each.isprintable())
    return name[-LONGEST_NAME:]


def keep_upload(file: UploadedFile, kinds: Sequence[str] = UPLOADS) -> Path:
    """Nothing of the name that came with a file is used but its kind."""
    name = (file.name or "").lower()
    suffix = next((suffix for suffix in kinds if name.endswith(suffix)), None)
    if suffix is None:
        raise Refused(f"Upload one of {', '.join(kinds)}.")
    folder = _uploads()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{secrets.token_hex(16)}{suffix}"
    with path.open("wb") as kept:
        for chunk in file.chunks():
            kept.write(chunk)
    return path


def forget_uploads() -> int:
    """Remove what came a day ago or earlier and no job waits for."""
    before = (timezone.now() - UPLOADS_KEPT).timestamp()
    old = [path for path in _uploads().glob("*") if path.stat().st_mtime < before]
    unfinished = Job.objects.unfinished()
    wanted = " ".join(map(str, unfinished.values_list("arguments", flat=True))) if old else ""
    forgotten = [path for path in old if path.name not in wanted]
    for path in forgotten:
        path.unlink(missing_ok=True)
    return len(forgotten)


def _uploads() -> Path:
    return Path(settings.DATA_DIR) / "uploads"

"""Attention: what waits for a researcher in a study, the worst first. Reads only."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from hits.models import Hit, Intent, Job, Publication, Study
from hits.pipeline import follow
from hits.pipeline.gold_failures import found_by_study, found_in_doubt
from hits.pipeline.overview import Attention, Overview, waiting_by_study
from hits.pipeline.publish import pages_short
from hits.pipeline.standing import appeals_by_study

STALLED_AFTER = timedelta(minutes=5)
ENDING_WITHIN = timedelta(hours=24)
_LEVELS = ("bad", "warn", "good")


def attention_in(study: Study, overview: Overview, *, is_published: bool) -> list[Attention]:
    """Of a study on every channel: its work, its HITs and its jobs."""
    found = [*overview.attention, *_appeals(study), *_golds(study)]
    if is_published:
        found += [*follow.attention_in(study), *_hits(study)]
    found += _stalled(study)
    return sorted(found, key=lambda each: _LEVELS.index(each.level))


def _appeals(study: Study) -> list[Attention]:
    number = appeals_by_study([study]).get(study.pk, 0)
    if not number:
        return []
    text = f"{number:,} appeal{' waits' if number == 1 else 's wait'} for an answer."
    return [Attention(text, "warn", "appeals", "Answer")]


def _golds(study: Study) -> list[Attention]:
    number = len(found_in_doubt(study))
    if not number:
        return []
    text = (
        "1 gold is in doubt: good people fail it."
        if number == 1
        else f"{number:,} golds are in doubt: good people fail them."
    )
    return [Attention(text, "warn", "golds", "Decide")]


def _hits(study: Study) -> list[Attention]:
    """Pages that nobody can buy, and HITs that are taken off the market soon."""
    open_now = study.publications.filter(state=Publication.State.OPEN, compensates__isnull=True)
    if study.state != Study.State.OPEN or not open_now.exists():
        return []
    if short := pages_short(study):
        what = "1 page is missing" if short == 1 else f"{short:,} pages are missing"
        text = f"HITs run out: {what} for which none is on sale."
        return [Attention(text, "warn", "channels", "Sell more")]
    until = timezone.now() + ENDING_WITHIN
    ending = Hit.objects.filter(publication__in=open_now, state="live", expires_at__lt=until)
    if number := ending.count():
        text = f"{number:,} HIT{'' if number == 1 else 's'} on sale will end within a day."
        return [Attention(text, "warn", "channels", "See them")]
    return []


def _stalled(study: Study) -> list[Attention]:
    """A job that no worker takes, or that its worker has left: the sweep rings for it again, but
    somebody has to see why nobody comes."""
    stalled = study.jobs.filter(_is_stalled()).defer("log").order_by("pk").first()
    if stalled is None:
        return []
    minutes = int((timezone.now() - stalled.asked_at).total_seconds() // 60)
    text = f"{stalled.title} was asked for {minutes:,} minutes ago, and no worker does it."
    return [Attention(text, "bad", "jobs", "See the job")]


def _is_stalled() -> Q:
    since = timezone.now() - STALLED_AFTER
    waits = Q(state=Job.State.QUEUED, asked_at__lt=since)
    return waits | Q(state=Job.State.RUNNING, lease_until__lt=since)


def needs_by_study(studies: Sequence[Study]) -> dict[int, list[tuple[str, str]]]:
    """What each of these studies needs, in a few words and with its level, for a list of them; as
    many statements for all as for one."""
    jobs = Job.objects.filter(study__in=studies)
    later = Job.objects.filter(
        study=OuterRef("study"), kind=OuterRef("kind"), pk__gt=OuterRef("pk")
    )
    failed = jobs.filter(~Exists(later), state=Job.State.FAILED)
    calls = follow.troubled(Intent.objects.filter(publication__study__in=studies))
    near = follow.deadlines_in(studies)
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for level, words, counted in [
        ("bad", "job{s} failed", _by("study", failed)),
        ("bad", "job{s} stalled", _by("study", jobs.filter(_is_stalled()))),
        ("bad", "call{s} refused", _by("publication__study", calls)),
        ("warn", "due soon", _by("hit__publication__study", near)),
        ("warn", "to review", waiting_by_study(studies)),
        ("warn", "to answer", appeals_by_study(studies)),
        ("warn", "gold{s} in doubt", found_by_study(studies)),
    ]:
        for study, number in counted.items():
            said = words.format(s="" if number == 1 else "s")
            found[study].append((f"{number:,} {said}", level))
    return found


def _by(study: str, rows: Any) -> dict[int, int]:
    return dict(rows.order_by().values_list(study).annotate(Count("pk")))

"""Manifest: how the files of a release came about, and what changed since the one before."""

import hashlib
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from importlib.metadata import version
from typing import Any

from django.db.models import Count, Max, QuerySet

from hits.analysis.distributions import Agreement
from hits.models import Assignment, Decision, Slot, Study, Unit
from hits.models.imported import IMPORTED
from hits.pipeline.outcomes import outcomes_of
from hits.pipeline.remove import excluded_by_reason
from hits.pipeline.tally import one_row
from hits.records import JudgedUnit

Manifest = dict[str, Any]

# Raised when columns or files change for who reads them.
FORMAT = 2
WRITERS = ("numpy", "orjson", "pyarrow")

# What is removed in one study of a release is gone from all.
REMOVED_ELSEWHERE = "removed from another study of this release"

_RULES = (
    "judgments_wanted", "pay", "most_units_a_person", "most_units_a_day", "training_units",
    "training_accuracy", "training_attempts", "quality",
)  # fmt: skip

_PAGES = """
    WITH taken AS (
        SELECT s.assignment_id, sum(j.seconds) AS seconds
        FROM hits_slot s JOIN hits_judgment j ON j.slot_id = s.id
        JOIN hits_assignment a ON a.id = s.assignment_id AND a.study_id = %(study)s
        GROUP BY s.assignment_id),
    page AS (
        SELECT a.submitted_at, coalesce(p.reward, v.pay) AS pay, w.channel, taken.seconds
        FROM hits_assignment a
        LEFT JOIN taken ON taken.assignment_id = a.id
        JOIN hits_studyversion v ON v.id = a.version_id
        JOIN hits_account w ON w.id = a.account_id
        LEFT JOIN hits_claim c ON c.assignment_id = a.id
        LEFT JOIN hits_hit h ON h.id = c.hit_id
        LEFT JOIN hits_publication p ON p.id = h.publication_id
        WHERE a.study_id = %(study)s AND a.state = 'submitted' AND NOT a.is_training)
    SELECT to_char(min(submitted_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
           to_char(max(submitted_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)
               FILTER (WHERE seconds > 0 AND channel <> %(imported)s),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY pay * 3600 / seconds)
               FILTER (WHERE seconds > 0 AND pay > 0 AND channel <> %(imported)s)
    FROM page
"""


@dataclass(slots=True)
class Counted:
    """What of a study stands in the table of units."""

    units: int = 0
    complete: int = 0
    judgments: int = 0
    agreement: Agreement = field(default_factory=Agreement)

    def add(self, unit: JudgedUnit) -> None:
        self.units += 1
        self.complete += len(unit.answers) >= unit.wanted
        self.judgments += len(unit.answers)
        self.agreement.add(unit.aggregate.distribution)


def facts(
    studies: Sequence[Study],
    *,
    name: str,
    licence: str,
    free_text: str,
    columns: dict[str, dict[str, str]],
    counted: dict[str, Counted],
) -> Manifest:
    """All that is stated of a release, but for its number and its files."""
    return {
        "release": name,
        "format": FORMAT,
        "licence": licence,
        "free_text": free_text,
        "software": f"annotation-app {version('annotation-app')}",
        "writers": {
            "python": platform.python_version(),
            **{each: version(each) for each in WRITERS},
        },
        "columns": columns,
        **_cut_off(studies),
        "studies": [_study(study, counted[study.slug]) for study in studies],
    }


def same(one: Manifest, other: Manifest) -> bool:
    """Whether two say the same of the same data, under whichever number."""
    return _substance(one) == _substance(other)


def _substance(manifest: Manifest) -> Manifest:
    data = {
        name: file for name, file in manifest.get("files", {}).items() if name not in DESCRIBING
    }
    left_out = {"version", "changes", "files"}
    return {key: value for key, value in manifest.items() if key not in left_out} | {"data": data}


# These files speak of the release's own number.
DESCRIBING = frozenset({"README.md", "croissant.json"})


def is_another_kind(one: Manifest, other: Manifest) -> bool:
    """Whether who reads the one must look before reading the other: other studies, settings or
    wording, another format, licence or handling of free text."""
    return bool(_kind(one) != _kind(other))


def _kind(manifest: Manifest) -> Any:
    studies = {
        each["study"]: [
            (own["number"], own["settings"], own["wording"]) for own in each["versions"]
        ]
        for each in manifest["studies"]
    }
    return studies, *(manifest.get(name) for name in ("format", "licence", "free_text"))


def changes(before: Manifest | None, now: Manifest) -> list[str]:
    """In sentences, since the version before."""
    if before is None:
        return ["The first version."]
    found = list(_differences(before, now)) or [_beyond_counts(before, now)]
    return [f"Since version {before.get('version', '1')}:", *found]


def _differences(before: Manifest, now: Manifest) -> Iterable[str]:
    old, new = ({each["study"]: each for each in own["studies"]} for own in (before, now))
    yield from (f"Study {slug} is new." for slug in sorted(new.keys() - old.keys()))
    yield from (f"Study {slug} is no longer in it." for slug in sorted(old.keys() - new.keys()))
    for slug in sorted(new.keys() & old.keys()):
        yield from _changes_of_study(slug, old[slug], new[slug])
    for what in ("format", "licence", "free_text"):
        if before.get(what) != now[what]:
            called = what.replace("_", " ")
            yield f"The {called} was {before.get(what) or 'not stated'} and is {now[what]}."


def _beyond_counts(before: Manifest, now: Manifest) -> str:
    old, new = (each.get("files", {}) for each in (before, now))
    data = sorted((old.keys() | new.keys()) - DESCRIBING)
    other = ", ".join(name for name in data if old.get(name) != new.get(name))
    if other:
        return f"The counts are the same; other rows stand in {other}."
    return "The data are the same; the manifest states something else of them."


def _changes_of_study(slug: str, before: Manifest, now: Manifest) -> Iterable[str]:
    versions = len(now["versions"]) - len(before["versions"])
    if versions:
        yield f"Study {slug} has {versions} more version{'s' if versions > 1 else ''}."
    for what in ("units_judged", "units_complete", "people", "erased_people"):
        one, two = before.get(what, 0), now[what]
        if one != two:
            yield f"Study {slug}: {what.replace('_', ' ')} {one:,} → {two:,}."
    for outcome in sorted(before["judgments"].keys() | now["judgments"].keys()):
        one, two = (each["judgments"].get(outcome, 0) for each in (before, now))
        if one != two:
            yield f"Study {slug}: judgments “{outcome}” {one:,} → {two:,}."


def _cut_off(studies: Sequence[Study]) -> Manifest:
    decisions = Decision.objects.filter(assignment__study__in=studies)
    submitted = Assignment.objects.filter(study__in=studies, state="submitted")
    last = submitted.aggregate(last=Max("submitted_at"))["last"]
    return {
        "last_decision": decisions.aggregate(last=Max("pk"))["last"] or 0,
        "last_submitted_at": last and last.isoformat(timespec="seconds"),
    }


def _study(study: Study, counted: Counted) -> Manifest:
    units = Unit.objects.filter(study=study)
    submitted = Assignment.objects.filter(study=study, state="submitted")
    pages = submitted.filter(is_training=False)
    people = pages.values("person").distinct()
    return {
        "study": study.slug,
        "name": study.name,
        "protocol": study.protocol,
        "corpus": study.corpus.slug,
        "licence": study.corpus.licence,
        "seed": study.seed,
        "versions": _versions(study),
        "fed_by": sorted(study.fed_by.values_list("slug", flat=True)),
        "machines": sorted(
            f"{proposal.machine} {proposal.direction} top-{proposal.depth} {proposal.split}"
            for proposal in study.proposals.select_related("machine")
        ),
        "units": _counts(units, "pool"),
        "units_judged": counted.units,
        "units_complete": counted.complete,
        "units_excluded": units.filter(excluded=True).count(),
        "units_excluded_by_reason": excluded_by_reason(study),
        "removals": _removals(study),
        "pages": _counts(pages, "use"),
        "people": people.count(),
        "erased_people": people.filter(person__erased_at__isnull=False).count(),
        "judgments": _judgments_by_outcome(study, counted),
        "judgments_accounted_for": _accounted_for(study, counted),
        "pages_not_used_by_reason": _reasons_not_used(study),
        "agreement": counted.agreement.as_json(),
        **_simulated(study),
        **_imported(study),
        **_times_and_pay(study),
        "training": {
            "pages": submitted.filter(is_training=True).count(),
            "people_qualified": study.participations.filter(
                qualified_at__isnull=False, let_in_by=None
            ).count(),
            "people_let_in": study.participations.filter(let_in_by__isnull=False).count(),
            "judgments": "left out of every file",
        },
    }


def _versions(study: Study) -> list[Manifest]:
    """With the checksum of the information that people agreed to, and not its text."""
    return [
        {
            "number": each.number,
            "settings": each.settings,
            "wording": each.wording,
            "consent_number": each.consent_number,
            "information_sha256": hashlib.sha256(each.information.encode()).hexdigest(),
            **{name: _plain(getattr(each, name)) for name in _RULES},
        }
        for each in study.versions.order_by("number")
    ]


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal) else value


def _times_and_pay(study: Study) -> Manifest:
    first, last, seconds, hourly = one_row(_PAGES, {"study": study.pk, "imported": IMPORTED})
    return {
        "first_day": first,
        "last_day": last,
        "median_page_seconds": seconds and round(seconds, 1),
        "median_hourly_pay": hourly and round(float(hourly), 2),
    }


def _removals(study: Study) -> list[dict[str, str]]:
    """What is gone now, under the names that the corpus gives it, and since when."""
    events = study.curations.filter(kind__in=["remove", "restore"])
    last = events.order_by("image", "caption", "-pk").distinct("image", "caption")
    return [
        {
            "image": each.image.external_id if each.image else "",
            "caption": each.caption.external_id if each.caption else "",
            "reason": each.reason,
            "at": each.at.isoformat(timespec="seconds"),
        }
        for each in last.select_related("image", "caption")
        if each.kind == "remove"
    ]


def _simulated(study: Study) -> Manifest:
    """How much of it was made up to rehearse the study, where some was."""
    made_up = Slot.objects.filter(
        assignment__study=study, judgment__isnull=False, person__is_simulated=True
    )
    count = made_up.count()
    return {"simulated_judgments": count} if count else {}


def _imported(study: Study) -> Manifest:
    """The files whose judgments were made elsewhere, where there are some."""
    found = study.imports.order_by("pk")
    files = [
        {"file": each.file_name, "sha256": each.sha256, "judgments": each.counts["added"]}
        for each in found
    ]
    return {"imports": files} if files else {}


def _counts(rows: QuerySet[Any], field: str) -> dict[str, int]:
    return dict(rows.order_by(field).values_list(field).annotate(n=Count("pk")))


def _judgments_by_outcome(study: Study, counted: Counted) -> dict[str, int]:
    """How many judgments are in the dataset, and why the others are not. Golds are no data."""
    slots = Slot.objects.filter(
        assignment__study=study, judgment__isnull=False, unit__gold__isnull=True
    )
    found: Counter[str] = Counter()
    outcomes = slots.values_list("unit__excluded", "state", "assignment__use")
    for is_removed, state, use, count in outcomes.annotate(n=Count("pk")):
        waits_or_used = "waits for review" if use == "pending" else use
        kept = waits_or_used if state == "counted" else state
        found["removed" if is_removed else kept] += count
    if elsewhere := found["used"] - counted.judgments:
        found["used"] -= elsewhere
        found[REMOVED_ELSEWHERE] = elsewhere
    return dict(sorted(found.items()))


def _accounted_for(study: Study, counted: Counted) -> Manifest:
    found = outcomes_of(study)
    if elsewhere := found.used - counted.judgments:
        not_used = found.not_used | {REMOVED_ELSEWHERE: elsewhere}
        found = replace(found, used=counted.judgments, not_used=not_used)
    return found.as_json()


def _reasons_not_used(study: Study) -> dict[str, int]:
    decisions = Decision.objects.filter(
        assignment__study=study,
        assignment__is_training=False,
        assignment__use="not_used",
        kind="use",
    )
    last = decisions.order_by("assignment", "-pk").distinct("assignment")
    reasons: Counter[str] = Counter(last.values_list("reason", flat=True))
    return dict(sorted(reasons.items()))

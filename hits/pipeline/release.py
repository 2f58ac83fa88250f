"""Release: an immutable export, from one snapshot, whose bytes depend on the data alone."""

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, F, Max, Q, QuerySet

from hits.exporters.streams import as_csv
from hits.models import Assignment, Decision, Release, ReleaseFile, Role, Slot, Study, Unit, User
from hits.pipeline.aggregate import (
    DIFFERENT_ANSWERS,
    OutsideIds,
    StudySource,
    in_batches,
    outside_captions,
)
from hits.pipeline.errors import NotAllowed, Refused, Taken
from hits.pipeline.outcomes import outcomes_of
from hits.pipeline.remove import excluded_by_reason
from hits.pipeline.rules import rules_of
from hits.protocol import Protocol

Tell = Callable[[int], None]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,80}")
_JUDGMENTS = """
    WITH unit AS (
        SELECT u.id, st.slug, u.payload, u.pool, min(us.rank) AS best_rank,
               string_agg(m.name || ' ' || m.version || '|' || p.direction || '|' || us.rank,
                          ';' ORDER BY us.rank, m.name, us.proposal_id) AS sources
        FROM hits_unit u
        JOIN hits_study st ON st.id = u.study_id
        LEFT JOIN hits_unitsource us ON us.unit_id = u.id
        LEFT JOIN hits_proposal p ON p.id = us.proposal_id
        LEFT JOIN hits_machine m ON m.id = p.machine_id
        WHERE u.study_id = ANY (%(studies)s)
        GROUP BY u.id, st.id)
    SELECT unit.payload::text, j.answer::text, unit.slug, unit.pool, unit.sources, unit.best_rank,
           a.person_id, a.id, v.number, s.position,
           to_char(a.submitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'),
           a.use, s.state, j.seconds, j.problem
    FROM hits_judgment j
    JOIN hits_slot s ON s.id = j.slot_id
    JOIN unit ON unit.id = s.unit_id
    JOIN hits_assignment a ON a.id = s.assignment_id AND NOT a.is_training
    JOIN hits_studyversion v ON v.id = a.version_id
    ORDER BY s.id
"""
_COLUMNS = (
    "study", "image_ids", "caption_ids", "pool", "proposed_by", "best_rank", "person", "page",
    "version", "position", "submitted_at", "use", "place", "seconds", "problem",
)  # fmt: skip

_UNIT_COLUMNS = (
    "study", "image_ids", "caption_ids", "pool", "label", "value", "positive", "judgments",
    "distribution",
)  # fmt: skip
# What the columns of every release mean; those of the answers are the protocol's own.
_MEANINGS = {
    "study": "short name of the study",
    "image_ids": "outside ids of the images that were shown, with spaces between them",
    "caption_ids": "outside ids of the captions that were shown, with spaces between them",
    "pool": "why the unit was asked about; golds have pools of their own",
    "proposed_by": "machine|direction|rank of every proposal of the unit, with ; between them",
    "best_rank": "the best rank that a machine gave it",
    "person": "number of the person; the same person has the same number in every study",
    "page": "number of the page that was done in one go",
    "version": "version of the study's settings and wording under which it was done",
    "position": "place on the page, from 1",
    "submitted_at": "when the page was submitted, UTC",
    "use": "whether the page is used: used, not_used or pending",
    "place": "what became of the judgment: counted, not_used, surplus (came too late to count), "
    "broken (could not be judged), same_person (of somebody who had judged the unit before), "
    "set_aside (its unit was asked again)",
    "seconds": "time on the question, while it was in front of the person",
    "problem": "what the person reported about the question",
    "label": "what the people said together",
    "value": "the number that was made of what they said, where there is one",
    "positive": "1 where the protocol counts the label as positive",
    "judgments": "judgments that are used",
    "distribution": "answer:how often, with ; between them",
}
_RULES = (
    "most_units_a_person", "most_units_a_day", "training_units", "training_accuracy",
    "training_attempts", "quality",
)  # fmt: skip


def path_of(file: ReleaseFile) -> Path:
    return _folder(file.release.name, file.release.number) / file.name


def check(*, studies: Sequence[Study], name: str, by: User) -> None:
    """Refuse what cannot be released together, under this name or by this person."""
    if not studies:
        raise Refused("Choose at least one study.")
    if any(study.pilot_of_id for study in studies):
        raise Refused("A pilot is never released: it only finds out what a page takes and pays.")
    if len({study.protocol for study in studies}) > 1:
        raise Refused("Studies of different protocols do not fit into one release.")
    # Ids from outside are unique within a corpus only: two would write over each other.
    if len({study.corpus_id for study in studies}) > 1:
        raise Refused("Studies of different corpora do not fit into one release: make one each.")
    if not _NAME.fullmatch(name):
        raise Refused("Name the release in up to 80 letters, digits, hyphens and underscores.")
    latest = Release.objects.filter(name=name).order_by("-number").first()
    if latest and not latest.studies.filter(pk__in=[study.pk for study in studies]).exists():
        raise Taken("This name belongs to a release of other studies: choose another one.")
    theirs = Study.objects.of(by, Role.RESEARCHER).filter(pk__in=[study.pk for study in studies])
    if theirs.count() < len({study.pk for study in studies}):
        raise NotAllowed("Only a researcher of a study, or an admin, releases it.")


def release(
    *, studies: Sequence[Study], name: str, by: User, tell: Tell = lambda done: None
) -> Release:
    """Make the release, or find the one that says the same already."""
    check(studies=studies, name=name, by=by)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            # Every cursor is read to its end, sorted: plan for the last row, not for the first.
            cursor.execute("SET LOCAL cursor_tuple_fraction = 1")
            cursor.execute("SET LOCAL work_mem = '64MB'")
            # Taken before the snapshot is, so that the one before is seen whole.
            cursor.execute("LOCK TABLE hits_release IN SHARE ROW EXCLUSIVE MODE")
        return _release(sorted(studies, key=lambda study: study.pk), name, by, tell)


def _release(studies: Sequence[Study], name: str, by: User, tell: Tell) -> Release:
    latest = Release.objects.filter(name=name).order_by("-number").first()
    number = 1 if latest is None else latest.number + 1
    folder = _folder(name, number)
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    written = {
        file: _write(unfinished / file, pieces) for file, pieces in _files(studies, tell).items()
    }
    manifest = _manifest(studies, name, written)
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    if latest is not None and latest.manifest == json.loads(text):
        shutil.rmtree(unfinished)
        return latest
    written = written | {"manifest.json": _write(unfinished / "manifest.json", [text])}
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
    return _store(studies, name, number, by, manifest, written)


def _folder(name: str, number: int) -> Path:
    return Path(settings.DATA_DIR) / "releases" / name / str(number)


def _files(studies: Sequence[Study], tell: Tell) -> dict[str, Iterable[str]]:
    kind, settings_in_force = rules_of(studies[0])
    source = StudySource(studies, kind)
    return {
        **kind.export(source, settings_in_force),
        "units.csv": as_csv(*_units(source)),
        "judgments.csv": as_csv((*_COLUMNS, *kind.columns), _judgments(studies, kind, tell)),
    }


def _units(source: StudySource) -> tuple[Sequence[str], Iterator[Sequence[Any]]]:
    rows = (
        (
            unit.study,
            " ".join([image.id for image in unit.images]),
            " ".join([caption.id for caption in unit.captions]),
            unit.pool,
            unit.aggregate.label,
            unit.aggregate.value,
            int(unit.aggregate.positive),
            len(unit.answers),
            ";".join(f"{value}:{count}" for value, count in unit.aggregate.distribution.items()),
        )
        for unit in source.units()
    )
    return _UNIT_COLUMNS, rows


def _judgments(
    studies: Sequence[Study], kind: Protocol[Any, Any], tell: Tell
) -> Iterator[Sequence[Any]]:
    done = 0
    answers = _cells_of_answers(kind)
    for batch in in_batches(_JUDGMENTS, {"studies": [study.pk for study in studies]}):
        items = _cells_of_items(kind, {row[0] for row in batch})
        said = _with_outside_captions(kind, [answers(row[1]) for row in batch])
        for row, answer in zip(batch, said, strict=True):
            yield row[2], *items[row[0]], *row[3:], *answer
        done += len(batch)
        tell(done)


def _cells_of_items(kind: Protocol[Any, Any], payloads: set[str]) -> dict[str, tuple[str, str]]:
    outside = OutsideIds(kind, map(json.loads, payloads))
    return {
        payload: (" ".join(images), " ".join(captions))
        for payload, (images, captions) in zip(payloads, outside, strict=True)
    }


def _cells_of_answers(kind: Protocol[Any, Any]) -> Callable[[str | None], Sequence[Any]]:
    @lru_cache(DIFFERENT_ANSWERS)
    def cells(answer: str | None) -> Sequence[Any]:
        return [""] * len(kind.columns) if answer is None else kind.row(json.loads(answer))

    return cells


def _with_outside_captions(
    kind: Protocol[Any, Any], rows: list[Sequence[Any]]
) -> Iterable[Sequence[Any]]:
    places = {kind.columns.index(name) for name in kind.caption_columns}
    if not places:
        return rows
    names = outside_captions({row[place] for row in rows for place in places if row[place] != ""})
    return (
        [names.get(cell, "") if place in places else cell for place, cell in enumerate(row)]
        for row in rows
    )


def _write(path: Path, pieces: Iterable[str]) -> dict[str, Any]:
    digest = hashlib.sha256()
    size = 0
    with path.open("wb") as file:
        for piece in pieces:
            data = piece.encode()
            digest.update(data)
            size += file.write(data)
    return {"sha256": digest.hexdigest(), "size": size}


def _manifest(
    studies: Sequence[Study], name: str, written: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    return {
        "release": name,
        "software": f"annotation-app {version('annotation-app')}",
        "columns": {
            "units.csv": {name: _MEANINGS[name] for name in _UNIT_COLUMNS},
            "judgments.csv": {name: _MEANINGS[name] for name in _COLUMNS},
        },
        "last_decision": _last_decision(studies),
        "studies": [_study_entry(study) for study in studies],
        "files": written,
    }


def _last_decision(studies: Sequence[Study]) -> int:
    decisions = Decision.objects.filter(assignment__study__in=studies)
    return decisions.aggregate(last=Max("pk"))["last"] or 0


def _study_entry(study: Study) -> dict[str, Any]:
    units = Unit.objects.filter(study=study)
    submitted = Assignment.objects.filter(study=study, state="submitted")
    pages = submitted.filter(is_training=False)
    used = Q(slots__state="counted", slots__assignment__use="used")
    judged = units.filter(gold__isnull=True).annotate(used=Count("slots", filter=used))
    return {
        "study": study.slug,
        "protocol": study.protocol,
        "corpus": study.corpus.slug,
        "licence": study.corpus.licence,
        "seed": study.seed,
        "versions": list(
            study.versions.order_by("number").values(
                "number", "settings", "wording", "judgments_wanted", *_RULES
            )
        ),
        "fed_by": sorted(study.fed_by.values_list("slug", flat=True)),
        "machines": sorted(
            f"{proposal.machine} {proposal.direction} top-{proposal.depth} {proposal.split}"
            for proposal in study.proposals.select_related("machine")
        ),
        "units": _counts(units, "pool"),
        "units_judged": judged.filter(used__gt=0).count(),
        "units_complete": judged.filter(used__gte=F("wanted")).count(),
        "units_excluded": units.filter(excluded=True).count(),
        "units_excluded_by_reason": excluded_by_reason(study),
        "removals": _removals(study),
        "pages": _counts(pages, "use"),
        "people": pages.values("person").distinct().count(),
        "judgments": _judgments_by_outcome(study),
        "judgments_accounted_for": outcomes_of(study).as_json(),
        "pages_not_used_by_reason": _reasons_not_used(study),
        **_simulated(study),
        **_imported(study),
        "training": {
            "pages": submitted.filter(is_training=True).count(),
            "people_qualified": study.participations.filter(
                qualified_at__isnull=False, let_in_by=None
            ).count(),
            "people_let_in": study.participations.filter(let_in_by__isnull=False).count(),
            "judgments": "left out of every file",
        },
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


def _simulated(study: Study) -> dict[str, Any]:
    """How much of it was made up to rehearse the study, where some was."""
    made_up = Slot.objects.filter(
        assignment__study=study, judgment__isnull=False, person__is_simulated=True
    )
    count = made_up.count()
    return {"simulated_judgments": count} if count else {}


def _imported(study: Study) -> dict[str, Any]:
    """The files whose judgments were made elsewhere, where there are some."""
    found = study.imports.order_by("pk")
    files = [
        {"file": each.file_name, "sha256": each.sha256, "judgments": each.counts["added"]}
        for each in found
    ]
    return {"imports": files} if files else {}


def _counts(rows: QuerySet[Any], field: str) -> dict[str, int]:
    return dict(rows.order_by(field).values_list(field).annotate(n=Count("pk")))


def _judgments_by_outcome(study: Study) -> dict[str, int]:
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
    return dict(sorted(found.items()))


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


def _store(
    studies: Sequence[Study],
    name: str,
    number: int,
    by: User,
    manifest: dict[str, Any],
    written: dict[str, dict[str, Any]],
) -> Release:
    made = Release.objects.create(
        name=name,
        number=number,
        last_decision_id=manifest["last_decision"],
        manifest=manifest,
        made_by=by,
    )
    made.studies.set(studies)
    ReleaseFile.objects.bulk_create(
        ReleaseFile(release=made, name=file, **values) for file, values in written.items()
    )
    return made

"""Release: an immutable export, from one snapshot, whose bytes depend on the data alone."""

import json
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from django.db import connection, transaction

from hits.exporters.card import card
from hits.exporters.croissant import croissant
from hits.exporters.formats import TableFiles, Typed, Written, write_text
from hits.exporters.streams import in_one_file
from hits.models import Release, ReleaseFile, Role, Study, User
from hits.pipeline import manifest as manifests
from hits.pipeline import shelf, tables
from hits.pipeline.aggregate import StudySource
from hits.pipeline.cycles import seldom_looking_for_cycles
from hits.pipeline.errors import NotAllowed, Refused, Taken
from hits.pipeline.manifest import Counted, Manifest
from hits.pipeline.rules import rules_of
from hits.pipeline.snapshot import beside, prepare_to_read_all
from hits.protocol import protocol, released_together

Step = Literal["", "major", "minor"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,80}")


@dataclass(frozen=True, slots=True)
class Wish:
    """What a researcher says of a release beyond its name. Without a licence it is that of the
    version before, or of the corpus; free text that nothing is said of is handled as in the
    version before, or kept. Without a step it is a minor one where the same studies have only
    grown."""

    licence: str | None = None
    free_text: str | None = None
    step: Step = ""


def as_arguments(
    *, studies: Sequence[Study], name: str, by: User, wish: Wish = Wish()
) -> dict[str, Any]:
    """Of the job that makes the release."""
    return {
        "studies": [study.pk for study in studies],
        "name": name,
        "by": by.pk,
        "wish": asdict(wish),
    }


def check(*, studies: Sequence[Study], name: str, by: User) -> None:
    """Refuse what cannot be released together, under this name or by this person."""
    if not studies:
        raise Refused("Choose at least one study.")
    if any(study.state == Study.State.DRAFT for study in studies):
        raise Refused("A draft has nothing to release. Open the study first.")
    if any(study.pilot_of_id for study in studies):
        raise Refused("A pilot is never released: it only finds out what a page takes and pays.")
    if not {study.protocol for study in studies} <= released_together(studies[0].protocol):
        raise Refused(
            "Studies whose protocols belong to no common dataset do not fit into one release."
        )
    # Ids from outside are unique within a corpus only: two would write over each other.
    if len({study.corpus_id for study in studies}) > 1:
        raise Refused("Studies of different corpora do not fit into one release: make one each.")
    if not _NAME.fullmatch(name):
        raise Refused("Name the release in up to 80 letters, digits, hyphens and underscores.")
    latest = _latest(name)
    if latest and not latest.studies.filter(pk__in=[study.pk for study in studies]).exists():
        raise Taken("This name belongs to a release of other studies: choose another one.")
    theirs = Study.objects.of(by, Role.RESEARCHER).filter(pk__in=[study.pk for study in studies])
    if theirs.count() < len({study.pk for study in studies}):
        raise NotAllowed("Only a researcher of a study, or an admin, releases it.")


def release(
    *,
    studies: Sequence[Study],
    name: str,
    by: User,
    wish: Wish = Wish(),
    tell: tables.Tell = lambda done: None,
) -> Release:
    """Make the release, or find the one that says the same already."""
    check(studies=studies, name=name, by=by)
    with seldom_looking_for_cycles(), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            # Taken before the snapshot is, so that the one before is seen whole.
            cursor.execute("LOCK TABLE hits_release IN SHARE ROW EXCLUSIVE MODE")
        prepare_to_read_all()
        return _release(sorted(studies, key=lambda study: study.pk), name, by, wish, tell)


def _release(
    studies: Sequence[Study], name: str, by: User, wish: Wish, tell: tables.Tell
) -> Release:
    latest = _latest(name)
    folder = shelf.room_for(name)
    licence, free_text = _licence(wish, latest, studies[0]), _free_text(wish, latest)
    manifest, columns = _write_data(studies, folder, name, licence, free_text, tell)
    if latest is not None and not latest.withdrawn_at and manifests.same(latest.manifest, manifest):
        shutil.rmtree(folder)
        return latest
    before = latest.manifest if latest else None
    major, minor = _version(latest, manifest, wish.step)
    manifest["version"] = f"{major}.{minor}"
    manifest["changes"] = manifests.changes(before, manifest)
    _describe(folder, manifest, columns)
    place = shelf.place_for(name, manifest["version"])
    made = Release(
        name=name,
        major=major,
        minor=minor,
        licence=licence,
        free_text=free_text,
        place=place,
        last_decision_id=manifest["last_decision"],
        made_by=by,
    )
    whole = _write_json(folder / "manifest.json", manifest)
    shelf.put(folder, place)
    return _store(made, studies, manifest, whole)


def _latest(name: str) -> Release | None:
    return Release.objects.filter(name=name).order_by("-major", "-minor").first()


def _licence(wish: Wish, latest: Release | None, study: Study) -> str:
    if wish.licence is not None:
        return wish.licence
    return latest.licence if latest and latest.licence else study.corpus.licence


def _free_text(wish: Wish, latest: Release | None) -> str:
    return wish.free_text or (latest.free_text if latest else Release.FreeText.KEPT.value)


def _version(latest: Release | None, manifest: Manifest, step: Step) -> tuple[int, int]:
    if latest is None:
        return 1, 0
    is_another_kind = manifests.is_another_kind(latest.manifest, manifest)
    if step == "major" or (not step and is_another_kind):
        return latest.major + 1, 0
    return latest.major, latest.minor + 1


def _write_data(
    studies: Sequence[Study],
    folder: Path,
    name: str,
    licence: str,
    free_text: str,
    tell: tables.Tell,
) -> tuple[Manifest, dict[str, Sequence[Typed]]]:
    """The files that hold data, and all that is stated of them."""
    sources = _by_protocol(studies)
    columns: dict[str, Sequence[Typed]] = {
        "judgments": tables.columns_of_judgments(source.kind for source in sources),
        "units": tables.UNITS,
    }
    counted = {study.slug: Counted() for study in studies}

    def write_judgments() -> dict[str, Written]:
        batches = tables.judgments(sources, columns["judgments"], free_text, tell)
        return _write_table(folder, "judgments", columns["judgments"], batches)

    with beside(write_judgments) as judgments:
        written = {
            file: write_text(folder / file, pieces) for file, pieces in _public(sources).items()
        }
        written |= _write_table(folder, "units", columns["units"], _counting(sources, counted))
        stated = manifests.facts(
            studies,
            name=name,
            licence=licence,
            free_text=free_text,
            columns={
                table: {column.name: column.meaning for column in own}
                for table, own in columns.items()
            },
            counted=counted,
        )
    written |= judgments.result()
    return stated | {"files": {each: own._asdict() for each, own in written.items()}}, columns


def _by_protocol(studies: Sequence[Study]) -> list[StudySource]:
    own: dict[str, list[Study]] = {}
    for study in studies:
        own.setdefault(study.protocol, []).append(study)
    return [StudySource(some, protocol(slug), released_with=studies) for slug, some in own.items()]


def _public(sources: Sequence[StudySource]) -> dict[str, Iterable[str]]:
    """The files of the protocols' public formats."""
    files: dict[str, Iterable[str]] = {}
    for source in sources:
        _, settings = rules_of(source.studies[0])
        for name, pieces in source.kind.export(source, settings).items():
            files[name] = in_one_file(files[name], pieces) if name in files else pieces
    return files


def _counting(
    sources: Sequence[StudySource], counted: dict[str, Counted]
) -> Iterable[tables.Columns]:
    """Rows of units, which are counted on the way."""
    for some in tables.units(sources):
        for unit in some:
            counted[unit.study].add(unit)
        yield tables.columns_of(some)


def _write_table(
    folder: Path, name: str, columns: Sequence[Typed], batches: Iterable[tables.Columns]
) -> dict[str, Written]:
    with TableFiles(folder, name, columns) as files:
        for some in batches:
            files.write(some)
        return files.finish()


def _describe(folder: Path, manifest: Manifest, columns: dict[str, Sequence[Typed]]) -> None:
    """The data card, and what machines read of the files."""
    data = {name: Written(**file) for name, file in manifest["files"].items()}
    text = card(manifest, [*data, *manifests.DESCRIBING, "manifest.json"])
    readme = write_text(folder / "README.md", [text])
    last = manifest["last_submitted_at"]
    described = croissant(
        name=manifest["release"],
        version=manifest["version"],
        description=_description(manifest),
        licence=manifest["licence"],
        dated=last and last[:10],
        files=data | {"README.md": readme},
        tables=columns,
    )
    metadata = _write_json(folder / "croissant.json", described)
    manifest["files"] |= {"README.md": readme._asdict(), "croissant.json": metadata._asdict()}


def _description(manifest: Manifest) -> str:
    judged = sum(study["units_judged"] for study in manifest["studies"])
    names = ", ".join(study["name"] for study in manifest["studies"])
    return f"{names}: what people said of {judged:,} units, judgment by judgment and together."


def _write_json(path: Path, value: Any) -> Written:
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    return write_text(path, [text])


def _store(made: Release, studies: Sequence[Study], manifest: Manifest, whole: Written) -> Release:
    made.manifest = manifest
    made.save(force_insert=True)
    made.studies.set(studies)
    files = manifest["files"] | {"manifest.json": whole._asdict()}
    ReleaseFile.objects.bulk_create(
        ReleaseFile(release=made, name=file, **values) for file, values in files.items()
    )
    return made

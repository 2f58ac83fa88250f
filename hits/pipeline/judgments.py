"""Judgments: those made elsewhere come into a study, and are treated as if given here."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Any, NamedTuple

import orjson
from django.db import connection, transaction

from hits.importers.judgments import Said, said
from hits.importers.lines import Line
from hits.importers.records import Bad, shown
from hits.models import Caption, Study, User
from hits.pipeline.check import check_submitted
from hits.pipeline.copying import NULL, analyze, cells
from hits.pipeline.doubt import note
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.rules import rules_of
from hits.pipeline.stored_answers import Outside, answer_of, captions_called, with_ids_here
from hits.pipeline.storing import Storing
from hits.pipeline.uploaded import (
    Tell,
    Uploaded,
    as_json,
    batches,
    ids_of,
    opened,
    row_of,
    silent,
    with_ids,
)
from hits.protocol import FieldErrors
from hits.records import CorpusImage, Fields, Json, JudgedUnit, Query, UnitDraft

CAPTIONS_KEPT = 20_000
# So many goes show every kind of arrangement that chance makes of a unit.
TURNS = 8
_UNITS = """
    SELECT key, id, payload::text, gold IS NOT NULL FROM hits_unit
    WHERE study_id = %(study)s AND key = ANY (%(keys)s)
"""


class Found(NamedTuple):
    pk: int
    payload: Json
    is_gold: bool


def import_judgments(
    *,
    study: Study,
    source: str,
    by: User | None = None,
    called: str = "",
    report: str = "",
    raise_wanted: bool = False,
    tell: Tell = silent,
) -> dict[str, Any]:
    """Take in the lines of a CSV or JSONL file that are answers of known workers to units of the
    study. The same lines again add nothing. Judgments beyond what units want are kept without
    being counted, or raise what is wanted. Golds are checked as on any page."""
    may_take(study)
    with opened(study=study, source=source, called=called, report=report) as file:
        counts = _store(study, file, by, raise_wanted, tell)
    analyze("hits_assignment, hits_slot, hits_judgment (slot_id), hits_unit (study_id, is_open)")
    read = counts["lines"]
    while check_submitted(study=study):
        tell(read, message="Checking golds.")
    added = counts["added"]
    if added:
        note([study.pk])
    tell(read, read, "1 judgment added." if added == 1 else f"{added:,} judgments added.")
    return {**counts, **file.outcome()}


def may_take(study: Study) -> None:
    if study.state == Study.State.DRAFT:
        raise Refused("Open the study first: judgments are of its units.")
    if study.state == Study.State.CLOSED:
        raise Closed("This study is closed.")


@transaction.atomic
def _store(
    study: Study, file: Uploaded, by: User | None, raise_wanted: bool, tell: Tell
) -> dict[str, int]:
    reading = _Reading(study, file)
    with Storing(study, raise_wanted=raise_wanted) as storing:
        for batch in batches(file.lines()):
            storing.bring(reading.lines(batch))
            tell(storing.brought + file.refused, message="Reading.")
        return storing.keep(file, by, tell)


class _Reading:
    """Lines of a file as lines to be copied, a batch at a time."""

    def __init__(self, study: Study, file: Uploaded) -> None:
        self._study = study
        self._file = file
        self._kind, self._settings = rules_of(study)
        model = self._kind.row_model
        self._row_fields = frozenset(model.model_fields) if model else frozenset()
        self._written = self._kind.remarks | self._kind.written
        self._captions = _Captions()
        self._outside: Outside = {}

    def lines(self, batch: Sequence[Line]) -> list[str]:
        heard = self._with_units(self._heard(batch))
        units = self._units({key for _, key in heard})
        self._outside = captions_called(self._kind, (unit.payload for unit in units.values()))
        lines = []
        for each, key in heard:
            try:
                lines.append(self._line(each, units.get(key)))
            except Bad as bad:
                self._file.refuse(each.number, bad)
        return lines

    def _heard(self, batch: Sequence[Line]) -> list[tuple[Said, Json]]:
        """What lines say, and of which rows they say it, with outside ids."""
        found = []
        for line in batch:
            try:
                each = said(line, self._row_fields, self._written)
                found.append((each, self._row(each)))
            except Bad as bad:
                self._file.refuse(line.number, bad)
        return found

    def _row(self, each: Said) -> Json:
        model = self._kind.row_model
        if each.unit:
            return {}
        if model is None:
            raise Bad("no-unit", f"{self._kind.name} has no rows: name the unit by its key.")
        return row_of(each.row, model)

    def _with_units(self, heard: Sequence[tuple[Said, Json]]) -> list[tuple[Said, str]]:
        ids = ids_of(self._study, (row for _, row in heard))
        known: list[tuple[Said, Json]] = []
        for each, row in heard:
            try:
                known.append((each, with_ids(row, ids)))
            except Bad as bad:
                self._file.refuse(each.number, bad)
        keys = self._keys([row for _, row in known if row])
        found = []
        for each, row in known:
            drafts = next(keys) if row else [each.unit]
            if len(drafts) == 1:
                found.append((each, drafts[0]))
            else:
                detail = f"The row makes {len(drafts)} units: name the unit by its key."
                self._file.refuse(each.number, Bad("no-unit", detail))
        return found

    def _keys(self, rows: Sequence[Json]) -> Iterator[list[str]]:
        """The keys of the units that each row makes. A protocol reads them one after the other, so
        that a unit is of the last row read; where that does not tell, each is given alone."""
        together = _Given(rows, self._captions)
        keys: list[list[str]] = [[] for _ in rows]
        for draft in self._drafts(together):
            keys[together.read - 1].append(draft.key)
        if all(len(each) == 1 for each in keys):
            return iter(keys)
        return (
            [draft.key for draft in self._drafts(_Given([row], self._captions))] for row in rows
        )

    def _drafts(self, given: "_Given") -> Iterable[UnitDraft]:
        return self._kind.units(given, self._settings, Random(self._study.seed))

    def _units(self, keys: set[str]) -> dict[str, Found]:
        with connection.cursor() as cursor:
            cursor.execute(_UNITS, {"study": self._study.pk, "keys": list(keys)})
            return {
                key: Found(pk, orjson.loads(payload), is_gold)
                for key, pk, payload, is_gold in cursor.fetchall()
            }

    def _line(self, each: Said, unit: Found | None) -> str:
        if unit is None:
            raise Bad("no-unit", "This study has no such unit.")
        if each.shown is not None and self._outside:
            own = self._kind.items(unit.payload)[1]
            each = each._replace(shown=with_ids_here(each.shown, self._outside, own))
        answer = as_json(self._answer(each, unit.payload))
        arranged = NULL if each.shown is None else cells(as_json(each.shown))
        texts = cells(each.worker, each.page, each.rejected, answer)
        return (
            f"{each.number}\t{unit.pk}\t{'t' if unit.is_gold else 'f'}\t{texts}\t{arranged}\t"
            f"{_or_null(each.seconds)}\t{_or_null(each.page_seconds)}\t"
            f"{each.submitted_at or NULL}\n"
        )

    def _answer(self, each: Said, payload: Json) -> Json:
        if each.shown is not None:
            possible = [self._kind.arrange(payload, turn, Random(turn)) for turn in range(TURNS)]
            if not any(_is_like(each.shown, arranged) for arranged in possible):
                detail = f"Shown is to be like {shown(orjson.dumps(possible[0]).decode())}."
                raise Bad("bad-shown", detail)
        try:
            stored = self._stored(each, payload)
            if stored is not None:
                return stored
            told = self._kind.told(each.form)
            answer = self._kind.parse(told, payload, each.shown, self._settings)
            _refuse_what_was_left_out(each.form, answer)
            return answer
        except FieldErrors as wrong:
            detail = "; ".join(f"{name}: {text}" for name, text in wrong.errors.items())
            raise Bad("bad-answer", shown(detail)) from None
        except (LookupError, TypeError):
            # A protocol that arranges its units by chance reads answers by how it did.
            detail = "The answer cannot be read without what was decided by chance: see `shown`."
            raise Bad("bad-shown", detail) from None

    def _stored(self, each: Said, payload: Json) -> Json | None:
        """What was decided by chance may be unknown, unless a public file has to tell it."""
        if not self._kind.is_arranged or (each.shown is None and self._kind.tells_what_was_shown):
            return None
        return answer_of(self._kind, each.form, payload, each.shown, self._settings, self._outside)


def _or_null(number: float | None) -> str:
    return NULL if number is None else repr(number)


def _is_like(given: Any, arranged: Any) -> bool:
    """Of the same form, and of the same things in this order or another."""
    return _form_of(given) == _form_of(arranged) and sorted(_things_in(given)) == sorted(
        _things_in(arranged)
    )


def _form_of(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _form_of(each) for name, each in value.items()}
    return [_form_of(each) for each in value] if isinstance(value, list) else None


def _things_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [thing for each in value.values() for thing in _things_in(each)]
    if isinstance(value, list):
        return [thing for each in value for thing in _things_in(each)]
    return [repr(value)]


def _words(values: Iterable[str]) -> set[str]:
    return set(" ".join(values).split())


def _refuse_what_was_left_out(form: Fields, answer: Json) -> None:
    """A form sends only what it offers; a file may say something else, which would be lost."""
    for name, values in form.items():
        stored = answer.get(name)
        if isinstance(stored, list):
            unknown = sorted(_words(values) - _words(map(str, stored)))
            if unknown:
                raise Bad("bad-answer", f"{name}: {shown(', '.join(unknown))} is not understood.")
        elif len(set(values)) > 1:
            raise Bad("bad-answer", f"{name}: there are several answers, and one is asked for.")


class _Captions:
    """The captions of images, the last asked for."""

    def __init__(self) -> None:
        self._kept: dict[int, dict[int, str]] = {}

    def of(self, images: Iterable[int]) -> Mapping[int, Mapping[int, str]]:
        wanted = list(images)
        missing = [image for image in wanted if image not in self._kept]
        if missing:
            self._fetch(missing)
        return {image: self._kept[image] for image in wanted if self._kept[image]}

    def _fetch(self, images: Sequence[int]) -> None:
        for image in list(islice(self._kept, max(0, len(self._kept) - CAPTIONS_KEPT))):
            del self._kept[image]
        self._kept |= {image: {} for image in images}
        captions = Caption.objects.filter(image__in=images).order_by("image", "pk")
        for image, pk, text in captions.values_list("image_id", "pk", "text"):
            self._kept[image][pk] = text


class _Given:
    """Some rows and nothing else to make units of; it knows how many were read."""

    def __init__(self, rows: Sequence[Json], captions: _Captions) -> None:
        self._rows = rows
        self._captions = captions
        self.read = 0

    def rows(self) -> Iterator[Json]:
        for row in self._rows:
            self.read += 1
            yield row

    def captions_of(self, images: Iterable[int]) -> Mapping[int, Mapping[int, str]]:
        return self._captions.of(images)

    def queries(self) -> Iterator[Query]:
        return iter(())

    def targets(self) -> Sequence[int]:
        return ()

    def images(self) -> Iterator[CorpusImage]:
        return iter(())

    def judged(self) -> Iterator[JudgedUnit]:
        return iter(())

    def leave_out(self, why: str) -> None:
        """Lines that are about no unit are refused one by one."""

"""Show: a page as its person sees it, and as it can be replayed exactly."""

import json
from collections.abc import Iterable, Mapping
from os.path import commonprefix
from random import Random
from typing import Any

from hits.models import Assignment, Study
from hits.pipeline.statements import rows
from hits.pipeline.submit import by_question
from hits.protocol import Protocol, protocol
from hits.records import Fields, ImageShown, Items, Json, Page, Question

_SLOTS = """
    SELECT s.position, s.shown, u.payload
    FROM hits_slot s JOIN hits_unit u ON u.id = s.unit_id
    WHERE s.assignment_id = %(assignment)s ORDER BY s.position
"""
_IMAGES = """
    SELECT i.id, b.sha256, b.width, b.height
    FROM hits_image i JOIN hits_blob b ON b.sha256 = i.blob_id WHERE i.id = ANY (%(ids)s)
"""
# Units here and there in the order of their keys: an index has that order, it is the same at every
# time, and neighbours in it look alike.
_ENDS = "SELECT min(key), max(key) FROM hits_unit WHERE study_id = %(study)s"
_SPECIMEN = """
    SELECT DISTINCT ON (u.key) u.key, u.payload
    FROM unnest(%(starts)s::text[]) AS starts (start)
    CROSS JOIN LATERAL (
        SELECT key, payload FROM hits_unit
        WHERE study_id = %(study)s AND pool = %(pool)s AND gold IS NULL AND NOT excluded
          AND key >= start
        ORDER BY key LIMIT %(each)s) u
    ORDER BY u.key
"""
_CAPTIONS = "SELECT id, text FROM hits_caption WHERE id = ANY (%(ids)s)"


def page_of(
    assignment: Assignment,
    *,
    fields: Fields | None = None,
    errors: Mapping[str, str] | None = None,
) -> Page:
    """The page with what was saved so far, or with `fields` as they came and their errors. A page
    without slots shows the study's specimen."""
    version = assignment.version
    study = assignment.study
    kind = protocol(study.protocol)
    settings = kind.settings_model.model_validate(version.settings)
    wording = kind.wording_model.model_validate(version.wording)
    slots = [
        (position, shown and json.loads(shown), json.loads(payload))
        for position, shown, payload in rows(_SLOTS, {"assignment": assignment.pk})
    ] or _specimen(study, kind, settings, Random(assignment.seed))
    items = items_of(kind, [payload for _, _, payload in slots])
    filled = by_question(assignment.draft if fields is None else fields)
    wrong = by_question(errors or {})
    return Page(
        key=str(assignment.key),
        study_name=study.name,
        study_slug=study.slug,
        template=kind.template,
        settings=settings,
        wording=wording,
        form=kind.form(settings, wording),
        questions=[
            Question(
                position=position,
                shown=kind.show(payload, shown, items),
                draft=filled.get(position, {}),
                errors=wrong.get(position, {}),
            )
            for position, shown, payload in slots
        ],
        pay=f"${version.pay}" if version.pay else "",
        lease_until=assignment.lease_until,
        revision=assignment.draft_revision,
        saved_at=assignment.saved_at,
        is_open=assignment.state in {"open", "expired"},
    )


def _specimen(
    study: Study, kind: Protocol[Any, Any], settings: Any, random: Random
) -> list[tuple[int, Json | None, Json]]:
    """Questions like those of a page, and as many: the same units for everybody, no golds."""
    composition = kind.composition(settings)
    size = sum(composition.values())
    payloads = _units_here_and_there(study, next(iter(composition)), size)
    return [
        (position, kind.arrange(payload, random), payload)
        for position, payload in enumerate(payloads, 1)
    ]


def _units_here_and_there(study: Study, pool: str, count: int) -> list[Json]:
    ((first, last),) = rows(_ENDS, {"study": study.pk})
    if first is None:
        return []
    chance = Random(study.seed)
    same = commonprefix([first, last])
    starts = [f"{same}{chance.randrange(1000):03}" for _ in range(count)]
    values = {"study": study.pk, "pool": pool}
    found = dict(rows(_SPECIMEN, values | {"starts": starts, "each": 1}))
    if len(found) < count:
        found |= dict(rows(_SPECIMEN, values | {"starts": [first], "each": count}))
    keys = sorted(found)
    chance.shuffle(keys)
    return [json.loads(found[key]) for key in keys[:count]]


def items_of(kind: Protocol[Any, Any], payloads: Iterable[Json]) -> Items:
    image_ids: set[int] = set()
    caption_ids: set[int] = set()
    for payload in payloads:
        images, captions = kind.items(payload)
        image_ids.update(images)
        caption_ids.update(captions)
    return Items(images=_images(image_ids), captions=_captions(caption_ids))


def _images(ids: set[int]) -> dict[int, ImageShown]:
    found = rows(_IMAGES, {"ids": list(ids)}) if ids else []
    return {pk: ImageShown(f"/images/{sha256}", w, h) for pk, sha256, w, h in found}


def _captions(ids: set[int]) -> dict[int, str]:
    return dict(rows(_CAPTIONS, {"ids": list(ids)})) if ids else {}

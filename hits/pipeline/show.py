"""Show: a page as its person sees it, and as it can be replayed exactly."""

import json
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from hits.models import Assignment, Study
from hits.pipeline.statements import rows
from hits.pipeline.submit import by_question
from hits.pipeline.terms import terms_of
from hits.protocol import Protocol, protocol
from hits.records import Fields, ImageShown, Items, Json, Page, Question

# Neighbours in the order of keys look alike, so a specimen has units that lie apart.
APART = 50

_SLOTS = """
    SELECT s.position, s.shown, u.payload
    FROM hits_slot s JOIN hits_unit u ON u.id = s.unit_id
    WHERE s.assignment_id = %(assignment)s ORDER BY s.position
"""
_IMAGES = """
    SELECT i.id, b.sha256, b.width, b.height
    FROM hits_image i JOIN hits_blob b ON b.sha256 = i.blob_id WHERE i.id = ANY (%(ids)s)
"""
# By their keys, for which there is an index: the same units at every time.
_SPECIMEN = """
    SELECT payload FROM hits_unit
    WHERE study_id = %(study)s AND pool = %(pool)s AND gold IS NULL AND NOT excluded
    ORDER BY key LIMIT %(count)s
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
        scripts=kind.scripts,
        styles=kind.styles,
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
        terms=str(terms_of(study, version)),
        lease_until=assignment.lease_until,
        revision=assignment.draft_revision,
        saved_at=assignment.saved_at,
        is_open=assignment.state in {"open", "expired"},
        is_training=assignment.is_training,
    )


def _specimen(
    study: Study, kind: Protocol[Any, Any], settings: Any, random: Random
) -> list[tuple[int, Json | None, Json]]:
    """Questions like those of a page, and as many: the same units for everybody, no golds."""
    composition = kind.composition(settings)
    size = sum(composition.values())
    pool = next(iter(composition))
    values = {"study": study.pk, "pool": pool, "count": size * APART}
    found = [json.loads(payload) for (payload,) in rows(_SPECIMEN, values)]
    return [
        (position, kind.arrange(payload, position, random), payload)
        for position, payload in enumerate(found[:: max(1, len(found) // size)][:size], 1)
    ]


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

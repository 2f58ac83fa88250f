"""Show: a page as its person sees it, and as it can be replayed exactly."""

from collections.abc import Iterable, Mapping
from typing import Any

from hits.models import Assignment, Caption, Image, Slot
from hits.pipeline.submit import fields_of
from hits.protocol import Protocol, protocol
from hits.records import Fields, ImageShown, Items, Json, Page, Question


def page_of(
    assignment: Assignment,
    *,
    fields: Fields | None = None,
    errors: Mapping[str, str] | None = None,
) -> Page:
    """The page with what was saved so far, or with `fields` as they came and their errors."""
    version = assignment.version
    study = assignment.study
    kind = protocol(study.protocol)
    settings = kind.settings_model.model_validate(version.settings)
    wording = kind.wording_model.model_validate(version.wording)
    slots = list(
        Slot.objects.filter(assignment=assignment)
        .order_by("position")
        .values_list("position", "shown", "unit__payload")
    )
    items = items_of(kind, [payload for _, _, payload in slots])
    filled = assignment.draft if fields is None else fields
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
                draft=fields_of(filled, position),
                errors=_errors_of(errors or {}, position),
            )
            for position, shown, payload in slots
        ],
        pay=f"${version.pay}" if version.pay else "",
        lease_until=assignment.lease_until,
        revision=assignment.draft_revision,
        saved_at=assignment.saved_at,
        is_open=assignment.state in {"open", "expired"},
    )


def items_of(kind: Protocol[Any, Any], payloads: Iterable[Json]) -> Items:
    image_ids: set[int] = set()
    caption_ids: set[int] = set()
    for payload in payloads:
        images, captions = kind.items(payload)
        image_ids.update(images)
        caption_ids.update(captions)
    return Items(images=_images(image_ids), captions=_captions(caption_ids))


def _images(ids: set[int]) -> dict[int, ImageShown]:
    rows = Image.objects.filter(pk__in=ids, blob__isnull=False).values_list(
        "pk", "blob_id", "blob__width", "blob__height"
    )
    return {pk: ImageShown(f"/images/{sha256}", w, h) for pk, sha256, w, h in rows}


def _captions(ids: set[int]) -> dict[int, str]:
    return dict(Caption.objects.filter(pk__in=ids).values_list("pk", "text"))


def _errors_of(errors: Mapping[str, str], position: int) -> Mapping[str, str]:
    prefix = f"q{position}-"
    return {
        name.removeprefix(prefix): text for name, text in errors.items() if name.startswith(prefix)
    }

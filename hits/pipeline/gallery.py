"""Gallery: every form with specimens, to be tried out; nothing of it is stored."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from django.templatetags.static import static
from django.utils import timezone

from hits import demo
from hits.pipeline.submit import by_question
from hits.protocol import FieldErrors, Protocol
from hits.records import Fields, ImageShown, Items, Json, Page, Question

PHOTOGRAPHS = Path(demo.__file__).parent / "photographs"


def specimens_of(kind: Protocol[Any, Any]) -> tuple[Sequence[Json], Items]:
    """What the protocol shows of itself, on photographs that come with the project."""
    return kind.specimens, _items()


def page_to_try(
    kind: Protocol[Any, Any],
    settings: Any,
    wording: Any,
    *,
    title: str,
    payloads: Sequence[Json],
    items: Items,
    fields: Fields | None = None,
    errors: Mapping[str, str] | None = None,
) -> Page:
    """These questions as a page, with answers as they came and what is wrong in them."""
    filled, wrong = by_question(fields or {}), by_question(errors or {})
    return Page(
        key="",
        study_name=title,
        study_slug="",
        template=kind.template,
        scripts=kind.scripts,
        styles=kind.styles,
        settings=settings,
        wording=wording,
        form=kind.form(settings, wording),
        questions=[
            Question(
                position=position,
                shown=kind.show(payload, _arranged(kind, payload, position), items),
                draft=filled.get(position, {}),
                errors=wrong.get(position, {}),
            )
            for position, payload in enumerate(payloads, 1)
        ],
        pay="",
        terms="A form to try out",
        lease_until=timezone.now() + timedelta(days=1),
        revision=0,
        saved_at=None,
        is_open=True,
    )


def answers_to(
    kind: Protocol[Any, Any], settings: Any, payloads: Sequence[Json], fields: Fields
) -> tuple[list[Json], dict[str, str]]:
    """What would be stored, and what is wrong with the answers, by field."""
    filled = by_question(fields)
    answers: list[Json] = []
    errors: dict[str, str] = {}
    for position, payload in enumerate(payloads, 1):
        shown = _arranged(kind, payload, position)
        try:
            answers.append(kind.parse(filled.get(position, {}), payload, shown, settings))
        except FieldErrors as wrong:
            errors |= {f"q{position}-{name}": text for name, text in wrong.errors.items()}
    return answers, errors


def _arranged(kind: Protocol[Any, Any], payload: Json, position: int) -> Json | None:
    """The same at every look."""
    return kind.arrange(payload, position, Random(position))


@cache
def _photographs() -> tuple[list[tuple[str, int, int]], list[str]]:
    """File name and size of each, and its first caption."""
    described = json.loads((PHOTOGRAPHS / "captions.json").read_text())
    captions: dict[int, str] = {}
    for annotation in described["annotations"]:
        captions.setdefault(annotation["image_id"], annotation["caption"])
    images = described["images"]
    return (
        [(image["file_name"], image["width"], image["height"]) for image in images],
        [captions[image["id"]] for image in images],
    )


def _items() -> Items:
    images, captions = _photographs()
    return Items(
        images={
            number: ImageShown(static(f"photographs/{name}"), width, height)
            for number, (name, width, height) in enumerate(images, 1)
        },
        captions=dict(enumerate(captions, 1)),
    )

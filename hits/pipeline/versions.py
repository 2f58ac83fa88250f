"""Versions: the settings, wording and rules of a study, never changed, only followed by others."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import orjson
from django.db import transaction
from pydantic import BaseModel, ValidationError

from hits.analysis.signals.settings import QualitySettings
from hits.models import Study, StudyVersion, User
from hits.pipeline.errors import Refused, Stale
from hits.pipeline.plainly import plainly
from hits.pipeline.training import refuse_too_few_golds
from hits.protocol import Protocol, protocol
from hits.records import Json

VERSIONED = (
    "settings", "wording", "information", "judgments_wanted", "lease_minutes", "pay",
    "expected_minutes", "most_units_a_person", "most_units_a_day", "training_units",
    "training_accuracy", "training_attempts", "quality",
)  # fmt: skip
PARTS = ("settings", "wording")
MOST_WORDS = 10_000
_IMAGE = re.compile(r"https://[^\s/]+/\S+|[\w-]+(/[\w.-]+)*/?[\w-]+\.(?:jpe?g|png|webp|gif)")
MOST_PAY = 100
TOO_MUCH_PAY = f"A page pays at most ${MOST_PAY}. Was it meant in cents?"


@transaction.atomic
def change_version(
    *, study: Study, by: User, seen: int | None = None, **changes: Any
) -> StudyVersion:
    """A new version with these changes; pages drawn before keep the one they were done under.
    Settings and wording that are not named stay as they are; where nothing differs, so does the
    version.

    With `seen`, the version that somebody had before their eyes, a newer one stops them."""
    locked = (
        Study.objects.select_for_update(of=("self",)).select_related("version").get(pk=study.pk)
    )
    if Decimal(changes.get("pay") or 0) > MOST_PAY:
        raise Refused(TOO_MUCH_PAY)
    before = locked.version
    kind = protocol(locked.protocol)
    values = {name: value for name, value in changes.items() if value is not None}
    if before is not None:
        if seen is not None and seen != before.number:
            raise Stale(f"Version {before.number} was made meanwhile. Nothing is changed yet.")
        values = _changed(locked, before, values)
    values |= _validated(kind, values)
    if before is not None and all(getattr(before, name) == values[name] for name in VERSIONED):
        study.version = before
        return before
    number = 1 if before is None else before.number + 1
    same = before is not None and before.information == values["information"]
    version = StudyVersion.objects.create(
        study=locked,
        number=number,
        consent_number=before.consent_number if before is not None and same else number,
        created_by=by,
        **values,
    )
    if locked.state != Study.State.DRAFT:
        refuse_too_few_golds(version)
    asks_the_same = before is not None and all(
        getattr(before, part) == values[part] for part in PARTS
    )
    page_seconds = locked.page_seconds if asks_the_same else None
    Study.objects.filter(pk=locked.pk).update(version=version, page_seconds=page_seconds)
    study.version, study.page_seconds = version, page_seconds
    return version


def _validated(kind: Protocol[Any, Any], values: Json) -> Json:
    models: dict[str, type[BaseModel]] = {
        "settings": kind.settings_model,
        "wording": kind.wording_model,
        "quality": QualitySettings,
    }
    try:
        found = {
            name: model.model_validate(values.get(name, {})).model_dump()
            for name, model in models.items()
        }
    except ValidationError as wrong:
        raise Refused(f"These settings cannot be used: {plainly(wrong)}") from None
    _refuse_unstorable(found)
    _refuse_other_options(kind, found["wording"])
    _refuse_bad_words(kind, found["wording"])
    return found


def _changed(study: Study, before: StudyVersion, values: Json) -> Json:
    kept = {name: getattr(before, name) for name in VERSIONED}
    named = {part: {**kept[part], **values[part]} for part in PARTS if part in values}
    changed = kept | values | named
    is_made = study.state != Study.State.DRAFT
    if is_made and changed["judgments_wanted"] != before.judgments_wanted:
        raise Refused(
            "How many judgments a unit gets was set when the units were made. "
            "Ask for more under “Curation”."
        )
    return changed


def _refuse_unstorable(values: Json) -> None:
    try:
        text = orjson.dumps([values[part] for part in PARTS])
    except TypeError:
        raise Refused("Settings and wording must be text that can be written down.") from None
    if b"\\u0000" in text:
        raise Refused("Settings and wording cannot hold a NUL.")


def _refuse_bad_words(kind: Protocol[Any, Any], wording: Json) -> None:
    """Nothing that people read is left blank or endless, and images come from where pages may
    load them."""
    for name, text in kind.wording_model().model_dump().items():
        if isinstance(text, str) and text and not wording[name].strip():
            raise Refused(f"The wording has no text for {name}.")
    for name, text in _texts_in(wording):
        if len(text) > MOST_WORDS:
            raise Refused(f"The wording of {name} has more than {MOST_WORDS:,} characters.")
        if name.endswith("image_url") and text and not _IMAGE.fullmatch(text):
            raise Refused(
                "The image of an example is an address that begins with https://, or a file of "
                "this site."
            )


def _texts_in(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for own, each in value.items():
            yield from _texts_in(each, str(own))
    elif isinstance(value, list):
        for each in value:
            yield from _texts_in(each, name)


def _refuse_other_options(kind: Protocol[Any, Any], wording: Json) -> None:
    """Options can be worded anew, but none can be left out, added or left blank."""
    for name, options in kind.wording_model().model_dump().items():
        if not isinstance(options, dict):
            continue
        given = wording[name]
        for option in options.keys() - given.keys():
            raise Refused(f"The wording of {name} lacks the option {option!r}.")
        for option in given.keys() - options.keys():
            raise Refused(f"The wording of {name} has an option {option!r} that is not asked for.")
        for option, text in options.items():
            if isinstance(text, str) and text.strip() and not str(given[option]).strip():
                raise Refused(f"The wording of {name} has no text for the option {option!r}.")

"""What a corpus file says, one record at a time, and what of it was refused."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

MOST_ID = 200
MOST_FILE_NAME = 500
MOST_SPLIT = 40
MOST_CATEGORY = 200
MOST_CAPTION = 5_000
MOST_PIXELS = 2_147_483_647
MOST_SHOWN = 200

_LEADS_OUT = re.compile(r"^[/\\]|^[A-Za-z]:[/\\]|(?:^|[/\\])\.\.(?:[/\\]|$)")
_IS_SIMPLE = re.compile(r"[\w-]+(?:\.\w+)?", re.ASCII).fullmatch


class ImageRecord(NamedTuple):
    place: str
    external_id: str
    file_name: str = ""
    folder: str = ""
    split: str = ""
    width: int | None = None
    height: int | None = None


class CaptionRecord(NamedTuple):
    place: str
    external_id: str
    image_id: str
    text: str


class RegionRecord(NamedTuple):
    place: str
    external_id: str
    image_id: str
    category: str
    x: float
    y: float
    width: float
    height: float
    area: float
    outline: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing that was not taken: where it stood, its outside id if it had one, and why."""

    kind: str
    place: str
    external_id: str
    reason: str
    detail: str


Record = ImageRecord | CaptionRecord | RegionRecord
Stream = Iterator[Record | Refusal]


class Bad(Exception):
    """A record, an image or a whole file that cannot be taken."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail

    def refusal(self, kind: str, place: str = "", external_id: str = "") -> Refusal:
        return Refusal(kind, place, external_id, self.reason, self.detail)


def shown(value: Any) -> str:
    """Anything from outside, short enough for a report."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"


def outside_id(value: Any, what: str) -> str:
    """Ids are kept as they are: 42 as "42", "0042" as "0042"."""
    if value and _is_plain(value, MOST_ID):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if abs(value) < 10**MOST_ID else "9" * (MOST_ID + 1)
    if value is None or value == "":
        raise Bad("no-id", f"There is no {what}.")
    if not isinstance(value, str):
        raise Bad("bad-id", f"The {what} is neither a text nor a whole number.")
    return plain_text(value, what, MOST_ID)


def _is_plain(value: Any, most: int) -> bool:
    """What nearly every text is, told quickly."""
    return type(value) is str and len(value) <= most and value.isascii() and "\0" not in value


def plain_text(value: Any, what: str, most: int) -> str:
    if _is_plain(value, most):
        return str(value)
    if not isinstance(value, str):
        raise Bad("not-text", f"The {what} is not a text.")
    if len(value) > most:
        raise Bad("too-long", f"The {what} has {len(value):,} characters; {most:,} are allowed.")
    if "\0" in value or not is_unicode(value):
        raise Bad("not-text", f"The {what} is not text in UTF-8, or holds a NUL.")
    return value


def optional_text(value: Any, what: str, most: int) -> str:
    return "" if value is None else plain_text(value, what, most)


def safe_file_name(value: Any) -> str:
    name = optional_text(value, "file name", MOST_FILE_NAME)
    if not _IS_SIMPLE(name) and _LEADS_OUT.search(name):
        detail = f"The file name {shown(name)} is absolute or leads out of its folder."
        raise Bad("unsafe-name", detail)
    return name


def caption_text(value: Any) -> str:
    """Any Unicode, markup included, exactly as it came."""
    if value is None or value == "":
        raise Bad("empty", "The caption is empty.")
    text = plain_text(value, "caption", MOST_CAPTION)
    if not text.strip():
        raise Bad("empty", "The caption is empty.")
    return text


def pixels(value: Any, what: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_PIXELS:
        return value
    raise Bad("bad-size", f"The {what} is not a number of pixels.")


def is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

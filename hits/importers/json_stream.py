"""JSON files of any size, one item of a list at a time."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import ijson

from hits.importers.records import Bad, shown

Open = Callable[[], IO[bytes]]

CHUNK = 1 << 16
LONGEST_WITHOUT_COMMA = 1 << 20
DEEPEST = 200
MOST_DIGITS = 4_000
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_MAYBE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    rb"\\(?:u(?P<pair>[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|u(?P<lone>[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_UNMARKED = bytes(set(range(256)) - set(b'"[]{}'))
_ANY_DIGIT = bytes.maketrans(b"123456789", b"0" * 9)


class Bounds:
    """Refuses what the parser breaks on.

    It holds a name for every level, and a number that Python does not convert ends the process.
    """

    def __init__(self) -> None:
        self._levels = 0
        self._before = b""
        self._half_escape = b""
        self._open_string = b""

    def pass_on(self, part: bytes) -> bytes:
        self._refuse_endless_numbers(part)
        for bracket in self._brackets(part):
            self._levels += 1 if bracket in b"[{" else -1
            if self._levels > DEEPEST:
                raise Bad("too-deep", f"The file is nested more than {DEEPEST} levels deep.")
        return part

    def _refuse_endless_numbers(self, part: bytes) -> None:
        if b"0" * MOST_DIGITS in (self._before + part).translate(_ANY_DIGIT):
            raise Bad("too-long", f"The file holds a number of more than {MOST_DIGITS:,} digits.")
        self._before = part[-MOST_DIGITS:]

    def _brackets(self, part: bytes) -> bytes:
        """Those outside of strings, without the many that close at once."""
        text, self._half_escape = self._half_escape + part, b""
        if b"\\" in text:
            text = _ESCAPED.sub(b"", text)
            self._half_escape = text[-1:] if text.endswith(b"\\") else b""
        marks = self._open_string + text.translate(None, _UNMARKED).replace(b'""', b"")
        pieces = marks.split(b'"')
        self._open_string = b"" if len(pieces) % 2 else b'"'
        return b"".join(pieces[::2]).replace(b"{}", b"").replace(b"[]", b"")


class MarkedSurrogates:
    """A file in which half a surrogate pair reads as NUL, so that its text is refused.

    The parser would put other characters in its place without a word.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._bounds = Bounds()
        self._rest = file.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)

    def read(self, size: int = CHUNK) -> bytes:
        if size == 0:
            return b""
        while chunk := self._file.read(max(size, CHUNK)):
            buffer = self._rest + chunk
            # An escape holds no comma, so that a cut behind one never parts a pair.
            cut = buffer.rfind(b",") + 1
            if cut == 0 and len(buffer) > LONGEST_WITHOUT_COMMA:
                cut = len(buffer)
            self._rest = buffer[cut:]
            if cut:
                return self._bounds.pass_on(_mark(buffer[:cut]))
        last, self._rest = self._rest, b""
        return self._bounds.pass_on(_mark(last))


def _mark(part: bytes) -> bytes:
    if not _MAYBE_SURROGATE.search(part):
        return part
    return _ESCAPE.sub(lambda m: rb"\u0000" if m["lone"] else m[0], part)


def items(open_file: Open, name: str) -> Iterator[tuple[str, Any]]:
    """The items of a top-level list, each with its place: `annotations[17]`."""
    with open_file() as file, broken_json_refused():
        for index, item in enumerate(ijson.items(MarkedSurrogates(file), f"{name}.item")):
            yield f"{name}[{index}]", item


def events(file: IO[bytes]) -> Iterator[tuple[str, str, Any]]:
    with broken_json_refused():
        yield from ijson.parse(MarkedSurrogates(file))


@contextmanager
def broken_json_refused() -> Iterator[None]:
    try:
        yield
    except ArithmeticError:
        raise Bad("not-json", "The file holds a number with too large an exponent.") from None
    except (ijson.JSONError, UnicodeDecodeError) as fault:
        raise Bad("not-json", f"The file is not readable as JSON: {_message(fault)}") from None


def _message(fault: Exception) -> str:
    """The parser says where in several lines, as bytes if the file is not UTF-8."""
    text = fault.args[0] if fault.args else ""
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    return shown(str(text).partition("\n")[0])

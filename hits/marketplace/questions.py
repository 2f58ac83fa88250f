"""ExternalQuestion, read by a parser that knows no document types and hence no entities."""

from dataclasses import dataclass
from urllib.parse import urlsplit
from xml.parsers import expat

from django.conf import settings

from hits.marketplace.errors import RequestError

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
EXTERNAL = f"{SCHEMAS}2006-07-14/ExternalQuestion.xsd"
MAX_BYTES = 65_535
MAX_HEIGHT = 2**31 - 1


@dataclass(frozen=True)
class ExternalQuestion:
    url: str
    frame_height: int


class _Unwanted(Exception):
    pass


@dataclass(frozen=True)
class Element:
    namespace: str
    name: str
    depth: int
    text: list[str]


def elements(xml: str, parameter: str) -> list[Element]:
    """All elements in document order; refused where the XML is not well-formed, too large, or
    declares a document type."""
    if len(xml.encode()) > MAX_BYTES:
        raise RequestError(
            "ParameterLengthOutOfRange",
            f"The value for {parameter} must not be larger than {MAX_BYTES} bytes.",
        )
    found: list[Element] = []
    opened: list[Element] = []
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(name: str, _attributes: dict[str, str]) -> None:
        namespace, _, local = name.rpartition(" ")
        opened.append(Element(namespace, local, len(opened), []))
        found.append(opened[-1])

    def end(_name: str) -> None:
        opened.pop()

    def text(data: str) -> None:
        opened[-1].text.append(data)

    def refuse(*_: object) -> None:
        raise _Unwanted

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(xml, True)
    except (expat.ExpatError, _Unwanted, ValueError) as problem:
        raise RequestError(
            "XMLParseError", f"There was an error parsing the XML {parameter}: {problem}"
        ) from None
    return found


def external_question(xml: str) -> ExternalQuestion:
    root, *children = elements(xml, "Question")
    if (root.namespace, root.name) != (EXTERNAL, "ExternalQuestion"):
        raise _not_valid(
            f"{root.name} of {root.namespace or 'no namespace'} is not taken here: the question "
            f"must be an ExternalQuestion of {EXTERNAL}"
        )
    names = [(child.namespace, child.name, child.depth) for child in children]
    if names != [(EXTERNAL, "ExternalURL", 1), (EXTERNAL, "FrameHeight", 1)]:
        raise _not_valid("an ExternalQuestion holds one ExternalURL and then one FrameHeight")
    if "".join(root.text).strip():
        raise _not_valid("an ExternalQuestion holds no text of its own")
    url, height = ("".join(child.text).strip() for child in children)
    return ExternalQuestion(url=_address(url), frame_height=_height(height))


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise _not_valid(f"ExternalURL is not an address: {url}") from None
    is_allowed = parts.scheme == "https" or (
        parts.scheme == "http" and host in settings.MARKETPLACE_HTTP_HOSTS
    )
    if not is_allowed or not host or parts.username is not None or not url.isprintable():
        raise _not_valid(f"ExternalURL must be an https address: {url}")
    return url


def _height(height: str) -> int:
    if not (height.isascii() and height.isdigit()) or int(height[:11]) > MAX_HEIGHT:
        raise _not_valid(f"FrameHeight must be a whole number, not {height!r}")
    return int(height)


def _not_valid(problem: str) -> RequestError:
    return RequestError(
        "XMLParseError", f"There was an error parsing the XML question or answer data: {problem}."
    )

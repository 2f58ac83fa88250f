"""A visitor of a site: requests over HTTP with cookies kept, and the forms of a page."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

TIMEOUT = 60
TOO_MANY = 429
LONGEST_WAIT = 90.0

Data = Mapping[str, str | Sequence[str]]


class NotServed(Exception):
    """The site did not do what was asked."""


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    url: str

    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Form:
    action: str
    fields: dict[str, str]
    attributes: dict[str, str]


class _Forms(HTMLParser):
    def __init__(self, base: str, html: str) -> None:
        super().__init__()
        self.base = base
        self.forms: list[Form] = []
        self.frames: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        if tag == "form":
            action = urljoin(self.base, found.get("action", ""))
            self.forms.append(Form(action, {}, found))
        elif tag == "iframe":
            self.frames.append(urljoin(self.base, found.get("src", "")))
        elif tag == "input" and found.get("type") == "hidden" and self.forms:
            self.forms[-1].fields[found.get("name", "")] = found.get("value", "")


def forms_of(answer: Answer) -> list[Form]:
    return _Forms(answer.url, answer.text).forms


def frame_of(answer: Answer) -> str:
    frames = _Forms(answer.url, answer.text).frames
    if not frames:
        raise NotServed(f"{answer.url} shows no frame.")
    return frames[0]


@dataclass
class Visitor:
    """With a token where the site wants one; who is asked to wait, waits."""

    headers: dict[str, str] = field(default_factory=dict)
    _opener: OpenerDirector = field(
        default_factory=lambda: build_opener(HTTPCookieProcessor(CookieJar()))
    )

    def get(self, url: str) -> Answer:
        return self._ask("GET", url, None, {})

    def send(self, url: str, data: Data, *, method: str = "POST", **headers: str) -> Answer:
        """As a form sends it, from a page of the same site."""
        body = urlencode(data, doseq=True).encode()
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        return self._ask(method, url, body, {"Origin": origin, **headers})

    def send_json(self, url: str, data: Any, *, method: str = "POST") -> Answer:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        return self._ask(method, url, json.dumps(data).encode(), headers)

    def _ask(self, method: str, url: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        waited = 0.0
        while True:
            asked = Request(url, body, {**self.headers, **headers}, method=method)  # noqa: S310
            try:
                with self._opener.open(asked, timeout=TIMEOUT) as answer:
                    return Answer(answer.status, answer.read().decode(), answer.url)
            except HTTPError as refusal:
                wait = float(refusal.headers.get("Retry-After") or 1)
                if refusal.code != TOO_MANY or waited + wait > LONGEST_WAIT:
                    return Answer(refusal.code, refusal.read().decode(), url)
                time.sleep(wait)
                waited += wait
            except URLError as fault:
                raise NotServed(f"{url} cannot be reached: {fault.reason}.") from fault


def expect(answer: Answer, *statuses: int) -> Answer:
    if answer.status not in (statuses or (200,)):
        raise NotServed(f"{answer.url} answered {answer.status}: {answer.text[:300]}")
    return answer

"""A rater as a process of its own: logs in and works through the pages as a browser would.

Started with one JSON argument; writes down, line by line, what the server acknowledged. It knows
nothing of the application but its addresses, and tries again whatever got no answer.
"""

import http.client
import json
import re
import sys
import time
from http.cookies import SimpleCookie
from pathlib import Path
from random import Random
from urllib.parse import urlencode, urlsplit

PATIENCE_SECONDS = 60


class Browser:
    def __init__(self, address: str) -> None:
        self.host = urlsplit(address).netloc
        self.cookies: dict[str, str] = {}
        self.connection: http.client.HTTPConnection | None = None

    def get(self, path: str) -> tuple[int, str, str]:
        return self.ask("GET", path)

    def post(self, path: str, fields: dict[str, list[str]]) -> tuple[int, str, str]:
        return self.ask("POST", path, urlencode(fields, doseq=True))

    def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str, str]:
        """Status, Location and text; asked again until the server gives an answer."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                status, location, text = self._ask(method, path, body)
            except (OSError, http.client.HTTPException):
                self.connection = None
                status, location, text = 0, "", "no answer"
            if 0 < status < 500:
                return status, location, text
            if time.monotonic() > deadline:
                raise TimeoutError(f"{method} {path}: {status} {text[:500]}")
            time.sleep(0.05)

    def _ask(self, method: str, path: str, body: str | None) -> tuple[int, str, str]:
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.host, timeout=20)
        headers = {
            "Accept": "application/json, text/html",
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "Content-Type": "application/x-www-form-urlencoded",
            "X-CSRFToken": self.cookies.get("csrftoken", ""),
        }
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                self.cookies |= {key: each.value for key, each in SimpleCookie(value).items()}
        return answer.status, answer.getheader("Location") or "", text


class Rater:
    def __init__(
        self, *, address: str, email: str, password: str, study: str, log: str, stop: str, seed: int
    ) -> None:
        self.browser = Browser(address)
        self.email, self.password, self.study = email, password, study
        self.log, self.stop = Path(log), Path(stop)
        self.random = Random(seed)

    def work(self) -> None:
        self.log_in()
        while not self.stop.exists():
            _, location, text = self.browser.post(f"/studies/{self.study}/next/", {})
            if location.startswith("/work/"):
                self.do_page(location.split("?")[0])
            elif location == "/":
                time.sleep(0.2)
            else:
                self.note(anomaly=f"next: {location} {text[:300]}")

    def log_in(self) -> None:
        self.browser.get("/login/")
        fields = {"username": [self.email], "password": [self.password]}
        status, _, text = self.browser.post("/login/", fields)
        if status != 302:
            raise PermissionError(text)

    def do_page(self, path: str) -> None:
        _, location, html = self.browser.get(path)
        if location:
            self.note(anomaly=f"{path} leads to {location}")
            return
        positions = sorted({int(found) for found in re.findall(r'name="q(\d+)-choice"', html)})
        revision = re.search(r'name="revision" value="(\d+)"', html)
        if not positions or revision is None:
            self.note(anomaly=f"{path} is no page: {html[:300]}")
            return
        fields = self.answers(path, positions)
        half = dict(list(fields.items())[: len(fields) // 2])
        self.browser.post(f"{path}save", half | {"revision": [revision[1]]})
        if self.random.random() < 0.02:
            self.browser.post(f"{path}return", {})
            return
        known = {"revision": [str(int(revision[1]) + 1)]}
        self.submit(path, fields | known)
        if self.random.random() < 0.1:
            self.submit(path, fields | known)

    def answers(self, path: str, positions: list[int]) -> dict[str, list[str]]:
        choice = self.random.choice(["yes", "no"])
        return {f"q{position}-choice": [choice] for position in positions} | {
            f"q{position}-problem": [f"{self.email} {path} {position}"] for position in positions
        }

    def submit(self, path: str, fields: dict[str, list[str]]) -> None:
        status, _, text = self.browser.post(f"{path}submit", fields)
        if status != 200:
            self.note(anomaly=f"submit of {path}: {status} {text[:300]}")
            return
        problems = [values[0] for name, values in fields.items() if name.endswith("-problem")]
        self.note(page=path, answer=text, problems=problems)

    def note(self, **what: object) -> None:
        with self.log.open("a") as log:
            log.write(json.dumps(what) + "\n")


if __name__ == "__main__":
    Rater(**json.loads(sys.argv[1])).work()

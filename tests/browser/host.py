"""A marketplace's site, as little of it as a frame needs: a page that frames an address in a
sandbox as MTurk's does, and the place where finished pages are posted to."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, quote, urlsplit

SANDBOX = "allow-scripts allow-same-origin allow-forms"
PAGE = """<!doctype html><html lang="en"><title>A marketplace</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>html, body {{ margin: 0; height: 100%; overflow: hidden }}
iframe {{ display: block; border: 0; width: 100%; height: 100% }}</style>
<iframe name="work" title="The HIT" sandbox="{sandbox}" src="{address}"></iframe></html>"""


@dataclass
class Host:
    origin: str
    received: list[dict[str, str]] = field(default_factory=list)
    is_down: bool = False
    cookies_seen: list[str] = field(default_factory=list)

    def framing(self, address: str) -> str:
        """The address of a page that frames another."""
        return f"{self.origin}/?frame={quote(address, safe='')}"


@contextmanager
def hosting(name: str = "127.0.0.1") -> Iterator[Host]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.host = Host(f"http://{name}:{server.server_port}")  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.host  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    @property
    def host(self) -> Host:
        found: Host = self.server.host  # type: ignore[attr-defined]
        return found

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.path == "/cookie":
            self.host.cookies_seen.append(self.headers.get("Cookie", ""))
            self.answer("<p id=told>A cookie was offered.</p>", cookie=True)
        else:
            framed = dict(parse_qsl(address.query)).get("frame", "")
            self.answer(PAGE.format(sandbox=SANDBOX, address=framed.replace("&", "&amp;")))

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", "0"))
        sent = dict(parse_qsl(self.rfile.read(size).decode(), keep_blank_values=True))
        if self.host.is_down:
            self.answer("<p id=down>Out of order.</p>", status=503)
        else:
            self.host.received.append(sent)
            self.answer("<p id=received>The marketplace has it.</p>")

    def answer(self, text: str, *, status: int = 200, cookie: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        if cookie:
            self.send_header("Set-Cookie", "offered=1; SameSite=None; Secure; Path=/")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass

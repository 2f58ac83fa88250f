"""A marketplace that knows one answer, the balance of the account, spoken as AWS speaks it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

SILENT = "http://127.0.0.1:9"


def channels(url: str = SILENT, *names: str) -> dict[str, dict[str, str]]:
    """The setting CHANNELS for marketplaces at an address."""
    values = {
        "kind": "mturk",
        "url": url,
        "submit": url,
        "region": "us-east-1",
        "access_key": "key",
        "secret_key": "secret",
    }
    return dict.fromkeys(names or ("local",), values)


@contextmanager
def marketplace_with(balance: str) -> Iterator[str]:
    """Its address, while it is there."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            asked = self.headers["X-Amz-Target"].rpartition(".")[2]
            known = asked == "GetAccountBalance"
            body = json.dumps({"AvailableBalance": balance} if known else {"__type": "Unknown"})
            self.send_response(200 if known else 400)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()

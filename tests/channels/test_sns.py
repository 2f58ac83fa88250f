"""Messages of SNS, signed with keys of our own and certificates that a real server hands out."""

import base64
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from hits.channels import sns
from hits.channels.contract import Refusal

TOPIC = "arn:aws:sns:us-east-1:123456789012:hits"


class Sender:
    """Signs messages; its certificate is at /cert.pem, and it counts confirmations."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.visited: list[str] = []
        sender = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                sender.visited.append(self.path)
                if self.path == "/elsewhere.pem":
                    self.send_response(302)
                    self.send_header("Location", "/cert.pem")
                    self.end_headers()
                    return
                self.send_response(200)
                self.end_headers()
                self.wfile.write(sender.certificate())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"

    def certificate(self) -> bytes:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns")])
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self.key.public_key())
            .serial_number(1)
            .not_valid_before(datetime.now(UTC) - timedelta(days=1))
            .not_valid_after(datetime.now(UTC) + timedelta(days=1))
            .sign(self.key, hashes.SHA256())
        )
        return made.public_bytes(serialization.Encoding.PEM)

    def message(self, version: str = "2", **changes: str) -> dict[str, str]:
        message = {
            "Type": "Notification",
            "MessageId": "1",
            "Message": "the text",
            "Timestamp": "2026-11-16T12:00:00.000Z",
            "TopicArn": TOPIC,
            "SignatureVersion": version,
            "SigningCertURL": f"http://{self.host}/cert.pem",
            **changes,
        }
        algorithm = hashes.SHA1() if version == "1" else hashes.SHA256()
        text = "".join(
            f"{name}\n{message[name]}\n" for name in sns.SIGNED[message["Type"]] if name in message
        )
        signature = self.key.sign(text.encode(), padding.PKCS1v15(), algorithm)
        return {**message, "Signature": base64.b64encode(signature).decode()}


@pytest.fixture
def sender() -> Iterator[Sender]:
    made = Sender()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()


def read(sender: Sender, message: dict[str, str]) -> str | None:
    return sns.authentic(json.dumps(message).encode(), topic=TOPIC, hosts=[sender.host])


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_signed_message_is_read(sender: Sender, version: str) -> None:
    assert read(sender, sender.message(version)) == "the text"


def test_a_subject_is_signed_too(sender: Sender) -> None:
    message = sender.message(Subject="A subject")
    assert read(sender, message) == "the text"
    with pytest.raises(Refusal, match="signature"):
        read(sender, message | {"Subject": "Another"})


@pytest.mark.parametrize("name", ["Message", "MessageId", "Timestamp"])
def test_a_message_changed_on_the_way_is_refused(sender: Sender, name: str) -> None:
    with pytest.raises(Refusal, match="signature"):
        read(sender, sender.message() | {name: "changed"})


@pytest.mark.parametrize(
    "change",
    [{"Signature": "bm8="}, {"Signature": "not base64!"}, {"SignatureVersion": "3"}],
)
def test_a_message_without_a_signature_is_refused(sender: Sender, change: dict[str, str]) -> None:
    with pytest.raises(Refusal):
        read(sender, sender.message() | change)


def test_another_topic_is_refused(sender: Sender) -> None:
    with pytest.raises(Refusal, match="topic"):
        read(sender, sender.message(TopicArn="arn:aws:sns:us-east-1:666:hits"))


@pytest.mark.parametrize(
    "address",
    [
        "http://evil.example/cert.pem",
        "https://sns.us-east-1.amazonaws.com.evil.example/cert.pem",
        "https://sns.us-east-1.amazonaws.com@evil.example/cert.pem",
        "file:///etc/passwd",
        "http://sns.us-east-1.amazonaws.com/cert.pem",
        "",
    ],
)
def test_a_certificate_is_fetched_from_a_configured_host_only(sender: Sender, address: str) -> None:
    message = json.dumps(sender.message(SigningCertURL=address)).encode()
    with pytest.raises(Refusal, match="not configured"):
        sns.authentic(message, topic=TOPIC, hosts=[sender.host, "sns.us-east-1.amazonaws.com"])
    assert sender.visited == []


def test_a_redirect_to_a_certificate_is_not_followed(sender: Sender) -> None:
    message = sender.message(SigningCertURL=f"http://{sender.host}/elsewhere.pem")
    with pytest.raises(Refusal, match="cannot be fetched"):
        read(sender, message)
    assert sender.visited == ["/elsewhere.pem"]


def test_a_subscription_is_confirmed_at_a_configured_host(sender: Sender) -> None:
    message = sender.message(
        Type="SubscriptionConfirmation",
        Token="token",
        SubscribeURL=f"http://{sender.host}/?Action=ConfirmSubscription",
    )
    assert read(sender, message) is None
    assert "/?Action=ConfirmSubscription" in sender.visited


def test_a_subscription_that_points_elsewhere_is_not_confirmed(sender: Sender) -> None:
    message = sender.message(
        Type="SubscriptionConfirmation",
        Token="token",
        SubscribeURL="http://169.254.169.254/latest/meta-data/",
    )
    with pytest.raises(Refusal, match="not configured"):
        read(sender, message)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"Type": 1}', b"\xff", b"x" * 400_000, b"[" * 99_000]
)
def test_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(Refusal):
        sns.authentic(body, topic=TOPIC, hosts=[])

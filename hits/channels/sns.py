"""Amazon's Simple Notification Service: whether a message is what it says it is.

A message carries a signature and the address of the certificate that proves it. The address comes
with the message, so it must lie on a host that was configured, over https, but for this machine's
own marketplace.
"""

import base64
import binascii
import json
import urllib.error
import urllib.request
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from hits.channels.contract import Refusal
from hits.records import Json

LARGEST = 300_000
SIGNED = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": (
        *("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
    ),
}
HASHES = {"1": hashes.SHA1, "2": hashes.SHA256}
SECONDS = 10
LOCAL = frozenset({"127.0.0.1", "localhost"})


def authentic(body: bytes, *, topic: str, hosts: Collection[str]) -> str | None:
    """The text of a notification; None where it was a subscription, which is confirmed here."""
    message = _read(body)
    if message.get("TopicArn") != topic:
        raise Refusal("This topic is not ours.")
    _check_signature(message, hosts)
    if message["Type"] == "SubscriptionConfirmation":
        _fetch(_allowed(message["SubscribeURL"], hosts))
        return None
    return str(message["Message"])


def _read(body: bytes) -> Json:
    if len(body) > LARGEST:
        raise Refusal("This message is too long.")
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal("This is not a message.") from None
    if not isinstance(message, dict) or message.get("Type") not in SIGNED:
        raise Refusal("This is not a message.")
    if not all(isinstance(value, str) for value in message.values()):
        raise Refusal("This is not a message.")
    return message


def _check_signature(message: Json, hosts: Collection[str]) -> None:
    algorithm = HASHES.get(message.get("SignatureVersion", ""))
    if algorithm is None:
        raise Refusal("This message is not signed.")
    key = _key_at(_allowed(message.get("SigningCertURL", ""), hosts))
    try:
        signature = base64.b64decode(message.get("Signature", ""), validate=True)
        # SHA-1 is what version 1 of their signatures is made with.
        key.verify(signature, signed_text(message), padding.PKCS1v15(), algorithm())
    except (InvalidSignature, binascii.Error):
        raise Refusal("The signature of this message is wrong.") from None


def signed_text(message: Json) -> bytes:
    names = [name for name in SIGNED[message["Type"]] if name in message]
    return "".join(f"{name}\n{message[name]}\n" for name in names).encode()


def _allowed(address: str, hosts: Collection[str]) -> str:
    parts = urlsplit(address)
    secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOCAL)
    if not secure or parts.netloc not in hosts:
        raise Refusal("This message points to a host that is not configured.")
    return address


@lru_cache(maxsize=16)
def _key_at(address: str) -> rsa.RSAPublicKey:
    try:
        key = x509.load_pem_x509_certificate(_fetch(address)).public_key()
    except ValueError:
        raise Refusal("There is no certificate where this message says.") from None
    if not isinstance(key, rsa.RSAPublicKey):
        raise Refusal("This certificate is of another kind.")
    return key


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _fetch(address: str) -> bytes:
    try:
        with _opener.open(address, timeout=SECONDS) as answer:
            found: bytes = answer.read(LARGEST)
            return found
    except (urllib.error.URLError, OSError):
        raise Refusal("What this message points to cannot be fetched.") from None

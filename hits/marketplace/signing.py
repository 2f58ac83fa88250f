"""SNS messages of Signature Version 2: an RSA key of the marketplace, and its certificate."""

import base64
import uuid
from datetime import timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone

from hits.marketplace.models import SigningKey

VALID = timedelta(days=3650)


def notification(*, topic: str, message: str) -> dict[str, str]:
    now = timezone.now()
    signed = {
        "Message": message,
        "MessageId": str(uuid.uuid4()),
        "Timestamp": f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z",
        "TopicArn": topic,
        "Type": "Notification",
    }
    key = _key()
    return {
        **signed,
        "SignatureVersion": "2",
        "Signature": _signature(key, "".join(f"{name}\n{text}\n" for name, text in signed.items())),
        "SigningCertURL": _address(key),
    }


def certificate(_request: HttpRequest, key: int) -> HttpResponse:
    found = get_object_or_404(SigningKey, pk=key)
    return HttpResponse(found.certificate, content_type="application/x-pem-file")


def _signature(key: SigningKey, text: str) -> str:
    private = serialization.load_pem_private_key(key.private_key.encode(), None)
    assert isinstance(private, rsa.RSAPrivateKey)
    signature = private.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
    return base64.b64encode(signature).decode()


def _address(key: SigningKey) -> str:
    scheme = "https" if settings.SERVED_OVER_HTTPS else "http"
    path = reverse("signing-certificate", args=[key.pk], urlconf="hits.marketplace.urls")
    return f"{scheme}://{settings.MARKETPLACE_HOST}{path}"


def _key() -> SigningKey:
    return SigningKey.objects.order_by("id").first() or _new_key()


def _new_key() -> SigningKey:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, settings.MARKETPLACE_HOST[:64])])
    now = timezone.now()
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + VALID)
        .sign(private, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    return SigningKey.objects.create(
        private_key=private.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode(),
        certificate=made.public_bytes(pem).decode(),
    )

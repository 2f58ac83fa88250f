import json
import logging

import pytest
from django.test import Client

from hits.models import Blob
from tests import making

pytestmark = pytest.mark.django_db


def test_an_image_is_served_by_its_hash_and_may_be_kept_for_ever(client: Client) -> None:
    blob = making.blob(1)
    response = client.get(f"/images/{blob.sha256}")
    assert response.status_code == 200
    assert response["Content-Type"] == "image/png"
    assert "immutable" in response["Cache-Control"]
    assert response["X-Content-Type-Options"] == "nosniff"
    assert len(b"".join(response)) == blob.size


def test_an_image_that_the_browser_has_is_not_sent_again(client: Client) -> None:
    blob = making.blob(1)
    response = client.get(f"/images/{blob.sha256}", headers={"If-None-Match": f'"{blob.sha256}"'})
    assert response.status_code == 304


def test_a_page_that_names_no_icon_finds_one_all_the_same(client: Client) -> None:
    assert client.get("/favicon.ico").headers["Location"].startswith("/static/css/icon")


@pytest.mark.parametrize("name", ["0" * 64, "../../etc/passwd", "abc"])
def test_an_unknown_image_is_not_found(client: Client, name: str) -> None:
    assert client.get(f"/images/{name}").status_code == 404


def test_an_image_in_a_bucket_is_a_fresh_signed_redirect(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    blob = Blob.objects.create(
        sha256="a" * 64,
        content_type="image/jpeg",
        size=1,
        width=1,
        height=1,
        bucket="photos",
        object_key="val/1.jpg",
    )
    response = client.get(f"/images/{blob.sha256}")
    assert response.status_code == 302
    assert "photos" in response["Location"]
    assert "Signature" in response["Location"]
    assert "immutable" not in response["Cache-Control"]


def test_health_names_its_parts(client: Client) -> None:
    response = client.get("/health/")
    assert response.status_code == 200
    assert response.json() == {"database": True, "redis": True}


def test_every_answer_forbids_framing_and_foreign_scripts(client: Client) -> None:
    response = client.get("/login/")
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert response["X-Frame-Options"] == "DENY"


def test_the_log_line_of_a_request_is_structured_and_has_no_query_string(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="requests"):
        client.get("/health/?token=secret")
    line = next(record for record in caplog.records if record.name == "requests")
    assert "/health/" in json.dumps(line.msg, default=str)
    assert "secret" not in json.dumps(line.msg, default=str)

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.conf import LazySettings
from moto.server import ThreadedMotoServer

from hits.importers import s3
from hits.models import Blob, Corpus
from hits.pipeline import blobs
from hits.pipeline.errors import Refused
from tests.importers.files import picture, run, two_images

pytestmark = pytest.mark.django_db

PHOTO = "coco/val2017/000000397133.jpg"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()
    s3.client.cache_clear()


@pytest.fixture
def bucket(endpoint: str, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    settings.S3_ENDPOINT_URL = endpoint
    s3.client.cache_clear()
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/moto-api/reset", method="POST"))
    made = boto3.resource("s3", endpoint_url=endpoint, region_name="us-east-1").Bucket("corpora")
    made.create()
    made.put_object(Key="coco/captions_val2017.json", Body=json.dumps(two_images()).encode())
    made.put_object(Key=PHOTO, Body=picture(1), ContentType="text/html")
    made.put_object(Key="coco/val2017/000000037777.jpg", Body=picture(2)[:300])
    made.put_object(Key="coco-other/rows.jsonl", Body=b'{"image_id": 1}')
    return made


def test_a_corpus_comes_from_s3_and_its_images_stay_there(bucket: Any, corpus: Corpus) -> None:
    report = run(corpus, "s3://corpora/coco")
    assert (report.images.added, report.captions.added, report.files.added) == (2, 4, 1)
    assert [(r["file"], r["reason"]) for r in report.first_refusals] == [
        ("coco/val2017/000000037777.jpg", "broken-image")
    ]
    blob = Blob.objects.get()
    assert (blob.bucket, blob.object_key, blob.content_type) == ("corpora", PHOTO, "image/jpeg")
    assert not blobs.path_of(blob.sha256).exists()


def test_a_presigned_address_gives_the_image_under_our_own_type(
    bucket: Any, corpus: Corpus
) -> None:
    run(corpus, "s3://corpora/coco")
    url = blobs.presigned_url(Blob.objects.get())
    with urllib.request.urlopen(url) as answer:
        assert answer.read() == bucket.Object(PHOTO).get()["Body"].read()
        assert answer.headers["Content-Type"] == "image/jpeg"


def test_a_second_import_from_s3_changes_nothing_and_does_not_read_the_images_again(
    bucket: Any, corpus: Corpus
) -> None:
    run(corpus, "s3://corpora/coco/")
    size = Blob.objects.get().size
    bucket.put_object(Key=PHOTO, Body=b"x" * size)
    report = run(corpus, "s3://corpora/coco/")
    assert not report.changed_anything
    assert report.files.unchanged == 1


def test_an_object_that_changed_in_its_bucket_is_refused(bucket: Any, corpus: Corpus) -> None:
    run(corpus, "s3://corpora/coco/")
    bucket.put_object(Key=PHOTO, Body=picture(200, size=(80, 80)))
    assert run(corpus, "s3://corpora/coco/").reasons["conflict"] == 1


def test_a_single_object_can_be_named(bucket: Any, corpus: Corpus) -> None:
    report = run(corpus, "s3://corpora/coco/captions_val2017.json")
    assert (report.images.added, report.refused) == (2, 0)


@pytest.mark.parametrize("address", ["s3://nowhere/coco", "s3://", "s3://corpora/nothing"])
def test_a_bucket_that_cannot_be_read_is_said_in_words(
    address: str, bucket: Any, corpus: Corpus
) -> None:
    with pytest.raises(Refused):
        run(corpus, address)


def test_a_service_that_does_not_answer_is_said_in_words(
    bucket: Any, corpus: Corpus, settings: LazySettings
) -> None:
    settings.S3_ENDPOINT_URL = "http://127.0.0.1:9"
    with pytest.raises(Refused, match="cannot be listed"):
        run(corpus, "s3://corpora/coco")


def test_an_image_in_s3_and_the_same_on_disk_are_one_blob(
    bucket: Any, corpus: Corpus, tmp_path: Path
) -> None:
    run(corpus, "s3://corpora/coco")
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "000000397133.jpg").write_bytes(bucket.Object(PHOTO).get()["Body"].read())
    report = run(corpus, tmp_path / "s")
    assert (report.files.unchanged, report.refused) == (1, 0)
    assert Blob.objects.get().bucket == "corpora"

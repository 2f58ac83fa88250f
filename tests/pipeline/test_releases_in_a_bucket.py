import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from boto3.s3.transfer import TransferConfig
from django.conf import LazySettings
from django.test import Client
from moto.server import ThreadedMotoServer

from hits.importers import s3
from hits.pipeline import links, shelf
from hits.pipeline.check import check_submitted
from hits.pipeline.release import release
from tests import making

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bucket(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setattr(shelf, "_IN_PARTS", TransferConfig(multipart_threshold=1))
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings.S3_ENDPOINT_URL = f"http://{host}:{port}"
    s3.client.cache_clear()
    made = boto3.resource(
        "s3", endpoint_url=settings.S3_ENDPOINT_URL, region_name="us-east-1"
    ).Bucket("data")
    made.create()
    yield made
    server.stop()
    s3.client.cache_clear()


def test_a_release_in_a_bucket_is_that_on_disk_and_handed_out_by_links_that_expire(
    bucket: Any, settings: LazySettings
) -> None:
    study = making.study(making.corpus(images=12), settings={"candidates_a_page": 4})
    owner = study.corpus.owner
    making.work(study, making.rater(study))
    check_submitted()
    on_disk = release(studies=[study], name="on-disk", by=owner)
    settings.RELEASES_URL = "s3://data/papers"
    killed = s3.client(settings.S3_ENDPOINT_URL).create_multipart_upload(
        Bucket="data", Key="papers/remote/1.0/units.csv"
    )
    made = release(studies=[study], name="remote", by=owner)
    stored = {each.key: each for each in bucket.objects.all()}
    assert set(stored) == {f"papers/remote/1.0/{file.name}" for file in made.files.all()}
    for name in ("judgments.parquet", "units.csv"):
        body = stored[f"papers/remote/1.0/{name}"].get()["Body"].read()
        assert body == shelf.path_of(on_disk.files.get(name=name)).read_bytes()
        # Objects that came in parts have the number of parts in their ETag.
        assert stored[f"papers/remote/1.0/{name}"].e_tag.endswith('-1"')
    assert killed["UploadId"] not in {each.id for each in bucket.multipart_uploads.all()}
    link = next(each for each in links.links_to(made, 1) if each.name == "units.csv")
    asked = urllib.request.Request(link.url, headers={"Range": "bytes=0-4"})
    with urllib.request.urlopen(asked) as answer:
        assert (answer.status, answer.read()) == (206, b"study")
    desk = Client()
    desk.force_login(owner)
    sent_on = desk.get(f"/research/releases/{made.pk}/units.csv")
    assert sent_on.status_code == 302
    assert sent_on.headers["Location"].startswith(f"{settings.S3_ENDPOINT_URL}/data/papers/remote")
    shelf.remove(made)
    assert not list(bucket.objects.all())

"""What makes no sense gets a clear answer, and changes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hits.models import Assignment, Job, Judgment, Membership, Role
from tests import making
from tests.api import world as worlds
from tests.api.world import World

pytestmark = pytest.mark.django_db


def _post(world: World, name: str, path: str, sent: Any) -> Any:
    return world.api_client(name).post(path, sent, content_type="application/json")


@pytest.mark.parametrize(
    "answers",
    [
        None,
        [],
        "yes",
        {"x": {"choice": "yes"}},
        {"-1": {"choice": "yes"}},
        {"1": "yes"},
        {"1": {"choice": {"deep": 1}}},
        {"1": {"choice": "\x00"}},
        {"1": {"__class__.x": "yes"}},
        {"1": {"other": "x" * 10_000}},
    ],
)
def test_answers_of_another_shape_are_refused(world: World, answers: Any) -> None:
    before = Judgment.objects.count()
    path = f"/api/assignments/{world.open_page.key}/submit/"
    response = _post(world, "rater", path, {"answers": answers})
    assert (response.status_code, response.json()["error"]) == (400, "invalid")
    assert Judgment.objects.count() == before


@pytest.mark.parametrize(
    "asked",
    [
        {"machine": "originals", "directions": ["i2t"]},
        {"machine": "palette", "directions": ["i2v"]},
        {"machine": "palette", "directions": []},
        {"machine": "caption_mean", "directions": ["i2i", "i2t"]},
    ],
)
def test_a_machine_is_not_asked_for_what_it_cannot_propose(
    world: World, asked: dict[str, Any]
) -> None:
    response = _post(world, "researcher", f"/api/corpora/{world.corpus.slug}/propose/", asked)
    assert (response.status_code, response.json()["error"]) == (400, "invalid")
    assert not Job.objects.filter(kind="propose").exists()


def test_a_missing_answer_is_named_by_position_and_field(world: World) -> None:
    path = f"/api/assignments/{world.open_page.key}/submit/"
    answers = worlds.answers_as_json(world.open_page)
    answers["2"] = {"choice": "partial_yes"}
    response = _post(world, "rater", path, {"answers": answers})
    assert response.status_code == 422
    assert response.json()["errors"] == {"2": {"reasons": "Choose at least one shortcoming."}}


def test_a_page_given_back_takes_no_answers(world: World) -> None:
    own = f"/api/assignments/{world.open_page.key}/"
    assert _post(world, "rater", own + "return/", {}).status_code == 204
    response = _post(world, "rater", own + "submit/", {"answers": {}})
    assert (response.status_code, response.json()["error"]) == (409, "closed")


def test_when_nothing_is_left_it_says_so(world: World) -> None:
    client = world.api_client("rater")
    for _ in range(20):
        response = client.post(f"/api/studies/{world.study.slug}/next/")
        if response.status_code != 200:
            break
        page = Assignment.objects.get(key=response.json()["key"])
        sent = {"answers": worlds.answers_as_json(page)}
        assert (
            _post(world, "rater", f"/api/assignments/{page.key}/submit/", sent).status_code == 200
        )
    assert (response.status_code, response.json()["error"]) == (409, "nothing_left")


@pytest.mark.parametrize(
    "source", ["/etc/passwd", "file:///etc/passwd", "s3:/x", "s3://", "http://127.0.0.1/", "a\x00b"]
)
def test_only_a_bucket_can_be_named_as_the_source_of_an_import(world: World, source: str) -> None:
    path = f"/api/corpora/{world.corpus.slug}/import/"
    before = Job.objects.count()
    response = _post(world, "researcher", path, {"source": source})
    assert (response.status_code, response.json()["error"]) == (400, "invalid")
    assert Job.objects.count() == before


def test_an_upload_keeps_nothing_of_its_name(world: World) -> None:
    file = SimpleUploadedFile("../../../etc/evil.json", b"{}")
    client = world.api_client("researcher")
    response = client.post(f"/api/corpora/{world.corpus.slug}/import/", {"file": file})
    source = Path(Job.objects.get(pk=response.json()["id"]).arguments["source"])
    assert (source.parent.name, source.suffix, source.read_bytes()) == ("uploads", ".json", b"{}")
    assert "evil" not in source.name
    assert str(source) not in response.content.decode()


@pytest.mark.parametrize("name", ["x.html", "x.svg", "x.pickle", "json"])
def test_an_upload_of_another_kind_is_refused(world: World, name: str) -> None:
    client = world.api_client("researcher")
    file = SimpleUploadedFile(name, b"<script>")
    response = client.post(f"/api/corpora/{world.corpus.slug}/import/", {"file": file})
    assert (response.status_code, response.json()["error"]) == (400, "refused")


@pytest.mark.parametrize("path", ["rows", "imports"])
@pytest.mark.parametrize("name", ["x.html", "x.json", "x.zip", "csv"])
def test_lines_of_another_kind_of_file_are_refused(world: World, path: str, name: str) -> None:
    before = Job.objects.count()
    file = SimpleUploadedFile(name, b"image,caption\n")
    client = world.api_client("researcher")
    response = client.post(f"/api/studies/{world.study.slug}/{path}/", {"file": file})
    assert (response.status_code, response.json()["error"]) == (400, "refused")
    assert Job.objects.count() == before


@pytest.mark.parametrize("path", ["rows", "imports"])
@pytest.mark.parametrize("sent", [{}, {"source": "/etc/passwd"}, {"source": 3, "file": "x"}])
def test_lines_come_from_a_file_or_a_bucket(world: World, path: str, sent: dict[str, Any]) -> None:
    response = _post(world, "researcher", f"/api/studies/{world.study.slug}/{path}/", sent)
    assert (response.status_code, response.json()["error"]) == (400, "invalid")


def test_a_draft_takes_no_judgments_and_no_job_is_asked_for(world: World) -> None:
    before = Job.objects.count()
    file = SimpleUploadedFile("x.csv", b"worker\n")
    client = world.api_client("researcher")
    response = client.post(f"/api/studies/{world.draft.slug}/imports/", {"file": file})
    assert (response.status_code, response.json()["error"]) == (400, "refused")
    assert Job.objects.count() == before


def test_settings_that_a_protocol_does_not_know_are_refused(world: World) -> None:
    sent = json.dumps({"settings": {"candidates_a_page": 0, "surprise": 1}})
    response = world.api_client("researcher").patch(
        f"/api/studies/{world.study.slug}/", sent, content_type="application/json"
    )
    assert (response.status_code, response.json()["error"]) == (400, "refused")


@pytest.mark.parametrize(
    "sent",
    [
        "{",
        "[" * 100_000,
        '{"settings":' + '{"a":' * 200 + "1" + "}" * 201,
        r'{"protocol": "\ud800"}',
        r'{"settings": [{"\udfff": 1}]}',
    ],
)
def test_broken_json_is_refused(world: World, sent: str) -> None:
    response = world.api_client("researcher").post(
        "/api/studies/", sent, content_type="application/json"
    )
    assert (response.status_code, response.json()["error"]) == (400, "parse_error")


def test_no_answer_of_a_job_tells_a_path_of_the_server(world: World) -> None:
    client = world.api_client("researcher")
    text = client.get(f"/api/jobs/{world.job.pk}/").content + client.get("/api/jobs/").content
    assert b"imports" not in text
    refused: Any = client.get(f"/api/jobs/{world.job.pk}/refused/")
    kept = Path((world.job.result or {})["refusals"])
    assert b"".join(refused.streaming_content) == kept.read_bytes() != b""


@pytest.mark.parametrize("address", ["/api/", "/api/nothing/", "/api/studies/a/nothing/here"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_an_unknown_address_is_told_in_json(address: str, method: str) -> None:
    client = Client(enforce_csrf_checks=True)
    response = getattr(client, method)(address, follow=True)
    assert response.status_code == 404
    assert response.json()["error"] == "not_found"


def test_studies_of_different_corpora_are_refused_before_a_job_is_asked_for(world: World) -> None:
    other = making.study(making.corpus(images=12))
    researcher = world.study.corpus.owner
    Membership.objects.create(study=other, user=researcher, role=Role.RESEARCHER)
    before = Job.objects.count()
    sent = {"name": "both", "with_studies": [other.slug]}
    path = f"/api/studies/{world.study.slug}/releases/"
    response = _post(world, "researcher", path, sent)
    assert (response.status_code, response.json()["error"]) == (400, "refused")
    assert "different corpora" in response.json()["message"]
    assert Job.objects.count() == before


def test_answers_older_than_the_saved_ones_are_refused(world: World) -> None:
    own = f"/api/assignments/{world.open_page.key}/"
    client = world.api_client("rater")
    revision = client.get(own).json()["revision"]
    saved = {"revision": revision, "answers": {"1": {"choice": "no"}}}
    newer = client.put(own + "draft/", saved, content_type="application/json").json()["revision"]
    sent = {"answers": worlds.answers_as_json(world.open_page), "revision": revision}
    response = _post(world, "rater", own + "submit/", sent)
    assert (response.status_code, response.json()["error"]) == (409, "stale")
    response = _post(world, "rater", own + "submit/", sent | {"revision": newer})
    assert response.status_code == 200

"""The files of releases: who gets them, in parts, and by links that expire."""

import re
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db.models import F
from django.test import Client

from hits.models import Release, Study, Unit
from hits.pipeline import links
from hits.pipeline.clone import clone_study, make_pilot
from hits.pipeline.open import create_study, open_study
from tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings={"candidates_a_page": 4})


@pytest.fixture
def desk(study: Study) -> Client:
    client = Client()
    client.force_login(study.corpus.owner)
    return client


def address(study: Study, path: str) -> str:
    return f"/research/studies/{study.slug}/{path}"


@pytest.fixture
def made(study: Study, settings: LazySettings, tmp_path: Path) -> Release:
    settings.DATA_DIR = tmp_path
    return making.released(study)


def test_a_releases_files_are_downloaded_as_attachments(
    study: Study, desk: Client, made: Release
) -> None:
    text = desk.get(address(study, "releases/")).content.decode()
    assert "0" * 64 in text
    answer = desk.get(f"/research/releases/{made.pk}/judgments.csv")
    assert b"".join(answer.streaming_content) == b"a,b\n"  # type: ignore[attr-defined]
    assert answer.headers["Content-Disposition"] == 'attachment; filename="judgments.csv"'
    for name in ("unlisted.txt", "..", "%2e%2e%2fsecret"):
        assert desk.get(f"/research/releases/{made.pk}/{name}").status_code == 404


def test_the_next_version_begins_with_what_the_last_one_said(
    study: Study, desk: Client, made: Release
) -> None:
    other = clone_study(study=study, slug="again", name="Again", by=study.corpus.owner)
    open_study(study=other)
    latest = Release.objects.create(
        name=made.name,
        major=2,
        licence="CC BY 4.0",
        free_text="left_out",
        last_decision_id=0,
        manifest={"release": made.name},
        made_by=study.corpus.owner,
    )
    latest.studies.set([study, other])
    answer = desk.get(address(study, "releases/"))
    fields = ("name", "licence", "free_text")
    said = [answer.context["form"][field].value() for field in fields]
    assert said == ["eccv", "CC BY 4.0", "left_out"]
    checked = rf'name="also" value="{other.pk}"[^>]* checked'
    assert re.search(checked, answer.content.decode())


def test_a_pilot_has_no_form_for_a_release_and_leads_to_the_pay(study: Study, desk: Client) -> None:
    pilot = make_pilot(study=study, pages=1, by=study.corpus.owner)
    text = desk.get(address(pilot, "releases/")).content.decode()
    assert "A pilot is never released" in text
    assert "Make the release" not in text
    open_study(study=pilot)
    Unit.objects.filter(study=pilot).update(counted=F("wanted"))
    text = desk.get(address(pilot, "")).content.decode()
    assert f'<a class="button small" href="{address(study, "")}">See the pay</a>' in text


def test_what_a_pilot_took_stands_in_the_step_that_made_it(study: Study, desk: Client) -> None:
    draft = clone_study(study=study, slug="again", name="Again", by=study.corpus.owner)
    open_study(study=make_pilot(study=draft, pages=1, by=study.corpus.owner))
    text = desk.get(address(draft, "")).content.decode()
    steps = text[text.index('<ol class="steps">') : text.index("</ol>")]
    assert "Pilot 1 of Again</a>: no page was done and timed yet." in steps
    assert "Make another pilot" in steps


@pytest.mark.parametrize(
    ("asked", "status", "got", "told"),
    [
        ("bytes=0-1", 206, b"a,", "bytes 0-1/4"),
        ("bytes=2-", 206, b"b\n", "bytes 2-3/4"),
        ("bytes=-3", 206, b",b\n", "bytes 1-3/4"),
        ("bytes=1-99", 206, b",b\n", "bytes 1-3/4"),
        ("bytes=4-", 416, b"", "bytes */4"),
        ("bytes=3-1", 200, b"a,b\n", None),
        ("bytes=0-0,2-2", 200, b"a,b\n", None),
        ("lines=1-2", 200, b"a,b\n", None),
    ],
)
def test_a_part_of_a_file_is_downloaded_where_a_download_broke_off(
    desk: Client, made: Release, asked: str, status: int, got: bytes, told: str | None
) -> None:
    answer = desk.get(f"/research/releases/{made.pk}/judgments.csv", headers={"range": asked})
    assert answer.status_code == status
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    assert body == got
    assert answer.headers.get("Content-Range") == told


def test_the_part_of_another_file_is_no_part_of_this_one(desk: Client, made: Release) -> None:
    path = f"/research/releases/{made.pk}/judgments.csv"
    for etag, status in (('"0"', 200), (f'"{"0" * 64}"', 206)):
        answer = desk.get(path, headers={"range": "bytes=2-", "if-range": etag})
        assert answer.status_code == status


def test_a_link_needs_no_login_and_expires(study: Study, desk: Client, made: Release) -> None:
    answer = desk.post(address(study, f"releases/{made.pk}/links/"), {"hours": "24"})
    (link,) = answer.context["links"]
    path = link.url.removeprefix("http://127.0.0.1:8000")
    assert Client().get(path, headers={"range": "bytes=0-1"}).status_code == 206
    assert b"".join(Client().get(path).streaming_content) == b"a,b\n"  # type: ignore[attr-defined]
    assert Client().get(path[:-1]).status_code == 410
    assert Client().get(path.replace(link.name, "another.csv")).status_code == 410
    (ended,) = links.links_to(made, -1)
    answer = Client().get(ended.url.removeprefix("http://127.0.0.1:8000"))
    assert answer.status_code == 410
    assert "expired" in answer.content.decode()


def test_a_release_over_a_study_of_others_is_not_theirs(
    study: Study, desk: Client, made: Release
) -> None:
    made.studies.add(
        create_study(
            slug="foreign",
            name="Foreign",
            corpus=study.corpus,
            protocol_slug="matching",
            by=making.user(),
        )
    )
    assert desk.get(f"/research/releases/{made.pk}/judgments.csv").status_code == 404
    assert "0" * 64 not in desk.get(address(study, "releases/")).content.decode()

import csv
import json
import math
import re
import time
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import LazySettings
from django.contrib.staticfiles import finders
from django.core.files.uploadedfile import SimpleUploadedFile
from django.templatetags.static import static
from django.test import Client, override_settings
from django.utils import timezone

from hits.models import (
    Assignment,
    Caption,
    Corpus,
    Invitation,
    Job,
    Membership,
    Release,
    Role,
    Study,
    User,
)
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.errors import Refused
from hits.pipeline.open import create_study
from hits.pipeline.overview import overview_of
from hits.pipeline.release import release
from hits.pipeline.submit import submit
from hits.pipeline.tally import Kept, results_of
from hits.pipeline.versions import change_version
from hits.templatetags.examples import example_address
from hits.views.research_forms import ProposeForm
from tests import making

pytestmark = pytest.mark.django_db

Queries = Callable[[int], Any]
PAGES = ("", "results/", "report/", "problems/", "people/", "settings/", "releases/")


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings={"candidates_a_page": 4}, pay="0.65")


@pytest.fixture
def desk(study: Study) -> Client:
    return logged_in(study.corpus.owner)


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def address(study: Study, page: str = "") -> str:
    return f"/research/studies/{study.slug}/{page}"


def draft(study: Study, slug: str = "second", by: User | None = None) -> Study:
    return create_study(
        slug=slug,
        name="A second study",
        corpus=study.corpus,
        protocol_slug="matching",
        by=by or study.corpus.owner,
    )


def answered(study: Study, choice: str = "yes") -> Assignment:
    page = making.work(study, making.rater(study), choice)
    check_submitted()
    return page


def flagged(study: Study) -> Assignment:
    account = making.rater(study)
    page = draw(study=study, account=account)
    submit(assignment_key=page.key, account=account, fields=making.answers(page.slots.count()))
    check_submitted()
    return page


def version_fields(client: Client, study: Study) -> dict[str, Any]:
    form = client.get(address(study, "settings/")).context["form"]
    fields = {}
    for bound in form:
        if bound.value() is not None and bound.value() is not False:
            fields[bound.name] = bound.value()
    return fields


def test_what_needs_attention_stands_first(study: Study, desk: Client) -> None:
    answered(study)
    flagged(study)
    text = desk.get(address(study)).content.decode()
    assert "1 page waits for review." in text
    assert text.index("Needs attention") < text.index("Progress") < text.index("First results")


def test_progress_cost_and_people_are_those_of_the_study(study: Study) -> None:
    answered(study)
    flagged(study)
    draw(study=study, account=making.rater(study))
    study.refresh_from_db()
    found = overview_of(study)
    assert (found.progress.counted, found.progress.held) == (8, 4)
    assert found.progress.wanted == found.progress.units
    assert found.progress.open == found.progress.units - 12
    assert (found.pages.submitted, found.pages.used, found.pages.out) == (2, 1, 1)
    assert (str(found.cost), str(found.owed)) == ("0.65", "0.65")
    pages_left = math.ceil(found.progress.open / 4)
    assert (found.pages_left, found.to_come) == (pages_left, pages_left * Decimal("0.65"))
    assert (found.people, found.pages.golds_passed, found.pages.golds_shown) == (2, 3, 4)


def test_an_hours_pay_comes_from_the_times_seen(study: Study) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    Assignment.objects.filter(pk=page.pk).update(drawn_at="2026-01-01T00:00Z")
    times = {f"q{position}-ms": ["39000"] for position in range(1, 7)}
    submit(assignment_key=page.key, account=account, fields=making.truthful(page) | times)
    pace = overview_of(study).pace
    assert pace.median_seconds == 6 * 39
    assert pace.hourly is not None
    assert round(pace.hourly, 2) == 10


def test_a_study_that_people_work_on_says_how_many_judgments_a_day_come_in(
    study: Study, desk: Client
) -> None:
    page = answered(study, "yes")
    an_hour_ago = timezone.now() - timedelta(hours=1)
    Assignment.objects.filter(pk=page.pk).update(submitted_at=an_hour_ago)
    html = desk.get(f"/research/studies/{study.slug}/").content.decode()
    assert re.search(r"open · 9[56] a day, done about \d+ \w+ \d{4}, \d\d:\d\d at this rate", html)


def test_choice_shares_by_machine_and_rank_count_only_what_is_used(study: Study) -> None:
    first = answered(study, "yes")
    answered(study, "no")
    flagged(study)
    results = results_of(study)
    assert results.n == 8
    assert [share.count for share in results.tallies[0].shares] == [4, 0, 0, 4]
    units = [slot.unit for slot in first.slots.select_related("unit") if slot.unit.gold is None]
    proposed = [s.rank for unit in units for s in unit.sources.all() if s.rank <= 5]
    by_rank = [row for row in results.machines if row.rank is not None]
    assert sum(row.shares[0].count for row in by_rank) == len(proposed)
    together = [row for row in results.machines if row.rank is None]
    assert sum(row.n for row in together) == sum(row.n for row in by_rank)


def test_reasons_and_golds_are_tallied(study: Study) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    fields = making.truthful(page, "mostly_no")
    first, *others = [name for name, value in fields.items() if value == ["mostly_no"]]
    fields[first.replace("choice", "reasons")] = ["wrong", "absent"]
    fields[first.replace("choice", "errors")] = ["quantity"]
    for name in others:
        fields[name.replace("choice", "reasons")] = ["absent"]
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    results = results_of(study)
    assert results.tallies[1].n == 4
    assert [share.count for share in results.tallies[1].shares] == [4, 0, 1, 0]
    assert {(row.kind, row.passed, row.answered) for row in results.golds} == {
        ("true positive", 1, 1),
        ("true negative", 1, 1),
    }
    assert (results.tallies[2].shares[0].count, results.tallies[2].n) == (1, 1)


def test_what_is_described_wrong_is_a_share_of_the_judgments_that_said_so(
    study: Study, desk: Client
) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    fields = making.truthful(page, "mostly_no")
    names = [name for name, value in fields.items() if value == ["mostly_no"]]
    for name in names:
        fields[name.replace("choice", "reasons")] = ["absent"]
    for name in names[:2]:
        fields[name.replace("choice", "reasons")] = ["wrong"]
        fields[name.replace("choice", "errors")] = ["quantity"]
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    text = desk.get(address(study, "results/")).text
    assert "share among the 2 judgments that say so" in text
    _, reasons, errors = results_of(study).tallies
    assert (reasons.n, errors.n) == (4, 2)
    assert errors.shares[0].part == 1


def test_a_decision_shows_in_cheap_results_at_once(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hits.pipeline.tally.CHEAP_SECONDS", 600)
    assert results_of(study).n == 0
    answered(study)
    assert results_of(study).n == 4


def test_the_table_is_downloaded_without_formulas(study: Study, desk: Client) -> None:
    answered(study)
    making.name_proposer(study, "=HYPERLINK(1)")
    answer = desk.get(address(study, "results.csv"))
    assert answer.headers["Content-Disposition"].startswith("attachment")
    lines = answer.content.decode().splitlines()
    assert lines[0] == "field,machine,rank,n,value,count"
    assert "choice,all,,4,100% YES,4" in lines
    cells = [cell for row in csv.reader(lines) for cell in row]
    assert "'=HYPERLINK(1) 1" in cells
    assert not any(cell.startswith("=") for cell in cells)


def test_reported_problems_are_listed_with_what_was_shown(study: Study, desk: Client) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    fields = making.truthful(page) | {"q2-problem": ["The <b>caption</b> is cut off."]}
    submit(assignment_key=page.key, account=account, fields=fields)
    text = desk.get(address(study, "problems/")).content.decode()
    assert "The &lt;b&gt;caption&lt;/b&gt; is cut off." in text
    payload = page.slots.get(position=2).unit.payload
    assert Caption.objects.get(pk=payload["caption"]).text in text


def test_a_study_is_paused_reopened_and_closed(study: Study, desk: Client) -> None:
    for state in ("paused", "open", "closed"):
        desk.post(address(study, "state/"), {"state": state})
        study.refresh_from_db()
        assert study.state == state
    assert desk.get(address(study, "state/")).status_code == 405


def test_a_draft_is_opened_by_a_job_once_proposals_are_chosen(study: Study, desk: Client) -> None:
    made = draft(study)
    desk.post(address(made, "state/"), {"state": "open"})
    assert not Job.objects.exists()
    wanted = list(study.proposals.values_list("pk", flat=True))
    desk.post(address(made, "proposals/"), {"proposal": wanted, "continues": [study.slug]})
    assert set(made.proposals.values_list("pk", flat=True)) == set(wanted)
    assert list(made.continues.all()) == [study]
    for _ in range(2):
        desk.post(address(made, "state/"), {"state": "open"})
    assert Job.objects.get().arguments == {"study": made.pk}


def test_proposals_of_another_corpus_cannot_be_chosen(study: Study, desk: Client) -> None:
    made = draft(study)
    foreign = making.proposals(making.corpus(images=8), machines=1, name="foreign")
    for named in (foreign, ["9" * 5000], ["9" * 30], ["one"]):
        sent = desk.post(address(made, "proposals/"), {"proposal": named}, follow=True)
        assert "Choose among the finished proposals" in sent.text
    assert not made.proposals.exists()


def test_a_researcher_makes_a_corpus_and_a_study(desk: Client, study: Study) -> None:
    desk.post("/research/corpora/new/", {"name": "Photographs", "slug": "photos", "licence": "CC0"})
    assert Corpus.objects.get(slug="photos").owner == study.corpus.owner
    values = {
        "name": "Stage 2", "slug": "stage-2", "corpus": study.corpus.pk, "procedure": "bison-audit",
        "judgments_wanted": "3", "pay": "0.65", "seed": "7",
    }  # fmt: skip
    answer = desk.post("/research/studies/new/", values)
    assert answer.headers["Location"] == "/research/studies/stage-2/"
    made = Study.objects.select_related("version").get(slug="stage-2")
    assert made.version is not None
    assert (made.version.judgments_wanted, made.seed, made.state) == (3, 7, "draft")
    again = desk.post("/research/studies/new/", values)
    assert "There is a study with this short name." in again.content.decode()
    assert 'value="Stage 2"' in again.content.decode()


def test_another_researchers_corpus_cannot_be_used(study: Study) -> None:
    other = logged_in(making.user(is_researcher=True))
    values = {
        "name": "Mine", "slug": "mine", "corpus": study.corpus.pk, "procedure": "bison-audit",
        "judgments_wanted": "1", "pay": "0", "seed": "0",
    }  # fmt: skip
    other.post("/research/studies/new/", values)
    assert not Study.objects.filter(slug="mine").exists()
    assert other.get(f"/research/corpora/{study.corpus.slug}/").status_code == 404


def test_changed_wording_makes_a_new_version(study: Study, desk: Client) -> None:
    fields = version_fields(desk, study) | {"wording.choices.yes": "Completely right"}
    desk.post(address(study, "settings/"), fields)
    study.refresh_from_db()
    assert study.version is not None
    assert (study.version.number, study.version.consent_number) == (2, 1)
    assert study.version.wording["choices"]["yes"] == "Completely right"
    assert study.version.settings["candidates_a_page"] == 4
    text = desk.get(address(study, "settings/")).content.decode()
    assert "<strong>Version 2</strong>" in text


def test_the_same_settings_again_make_no_version(study: Study, desk: Client) -> None:
    desk.post(address(study, "settings/"), version_fields(desk, study))
    assert study.versions.count() == 1


def test_wrong_settings_are_kept_in_the_form_and_say_what_is_wrong(
    study: Study, desk: Client
) -> None:
    fields = version_fields(desk, study)
    fields |= {"settings.candidates_a_page": "5000", "wording.question": "A question I typed"}
    answer = desk.post(address(study, "settings/"), fields)
    text = answer.content.decode()
    assert answer.status_code == 422
    assert "less than or equal to 200" in text
    assert "A question I typed" in text
    assert study.versions.count() == 1


def test_settings_are_named_in_words_with_help_and_without_json(study: Study, desk: Client) -> None:
    text = desk.get(address(study, "settings/")).text
    assert "Golds to be answered no, on a page" in text
    assert "Random pairs that no machine proposed. 0 to 20." in text
    assert "true_negatives" not in re.sub(r'"[^"]*"', "", text)
    assert "JSON" not in text


def test_an_example_is_added_changed_and_left_out_field_by_field(
    study: Study, desk: Client
) -> None:
    assert study.version is not None
    before = study.version.wording["examples"]
    new = {"caption": "A red boat.", "answer": "100% NO", "explanation": "It is blue."}
    fields = version_fields(desk, study)
    fields |= {f"wording.examples.0.{name}": "" for name in (*new, "image_url")}
    fields |= {f"wording.examples.4.{name}": value for name, value in new.items()}
    assert desk.post(address(study, "settings/"), fields).status_code == 302
    study.refresh_from_db()
    assert study.version.wording["examples"] == [*before[1:], new | {"image_url": ""}]
    assert "Example" in desk.get(address(study, "settings/")).context["versions"][0][1]


def test_half_an_example_is_refused_beside_what_is_missing(study: Study, desk: Client) -> None:
    fields = version_fields(desk, study) | {"wording.examples.4.caption": "A red boat."}
    answer = desk.post(address(study, "settings/"), fields)
    assert answer.status_code == 422
    wrong = answer.context["form"].errors
    assert set(wrong) == {"wording.examples.4.answer", "wording.examples.4.explanation"}
    assert 'href="#id_wording.examples.4.answer"' in answer.text
    assert study.versions.count() == 1


def test_an_invitation_is_made_and_ended(study: Study, desk: Client) -> None:
    desk.post(address(study, "people/"), {"role": "reviewer", "places": "3", "days": "7"})
    invitation = Invitation.objects.get(study=study)
    assert (invitation.role, invitation.places) == ("reviewer", 3)
    text = desk.get(address(study, "people/")).content.decode()
    assert f"/join/{invitation.token}/" in text
    desk.post(address(study, f"invitations/{invitation.pk}/end/"))
    invitation.refresh_from_db()
    assert not invitation.is_usable
    assert invitation.token not in desk.get(address(study, "people/")).content.decode()


def test_a_study_keeps_its_last_researcher(study: Study, desk: Client) -> None:
    rater = making.rater(study)
    assert rater.user is not None
    member = study.memberships.get(user=rater.user)
    desk.post(address(study, f"people/{member.pk}/end/"))
    assert not study.memberships.filter(pk=member.pk).exists()
    last = study.memberships.get(role=Role.RESEARCHER)
    desk.post(address(study, f"people/{last.pk}/end/"))
    assert study.memberships.filter(pk=last.pk).exists()


def test_an_upload_is_kept_under_a_name_of_our_own(
    study: Study, desk: Client, settings: LazySettings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    path = f"/research/corpora/{study.corpus.slug}/import/"
    file = SimpleUploadedFile("../../../etc/captions.JSON", b'{"images": []}')
    desk.post(path, {"file": file, "split": "test"})
    job = Job.objects.get(kind="import")
    kept = Path(job.arguments["source"])
    assert kept.parent == tmp_path / "uploads"
    assert kept.suffix == ".json"
    assert "captions" not in kept.name
    assert kept.read_bytes() == b'{"images": []}'
    wrong = desk.post(path, {"file": SimpleUploadedFile("page.html", b"<script>")})
    assert "Upload one of" in wrong.content.decode()
    assert Job.objects.count() == 1


def test_only_the_owner_imports_into_a_corpus(study: Study) -> None:
    colleague = making.user()
    Membership.objects.create(study=study, user=colleague, role=Role.RESEARCHER)
    client = logged_in(colleague)
    assert client.get(f"/research/corpora/{study.corpus.slug}/").status_code == 200
    file = SimpleUploadedFile("captions.json", b"{}")
    path = f"/research/corpora/{study.corpus.slug}/import/"
    assert client.post(path, {"file": file}).status_code == 404


def test_a_corpus_without_splits_can_be_proposed_on(study: Study, desk: Client) -> None:
    study.corpus.images.update(split="")
    values = {
        "machine": "palette", "directions": "t2i", "split": "", "train_split": "",
        "depth": "25", "query_sample": "", "seed": "0",
    }  # fmt: skip
    answer = desk.post(f"/research/corpora/{study.corpus.slug}/propose/", values)
    assert answer.status_code == 302
    arguments = Job.objects.get(kind="propose").arguments
    assert (arguments["split"], arguments["train_split"]) == ("", "")


def test_the_split_with_most_image_files_is_chosen_beforehand(study: Study) -> None:
    images = study.corpus.images
    images.update(split="a")
    few = list(images.order_by("pk").values_list("pk", flat=True)[:2])
    images.filter(pk__in=few).update(split="b")
    images.filter(split="a").update(blob=None)
    form = ProposeForm(corpus=study.corpus)
    assert (form["split"].value(), form["train_split"].value()) == ("b", "b")
    images.filter(pk=few[0]).update(split="train")
    form = ProposeForm(corpus=study.corpus)
    assert (form["split"].value(), form["train_split"].value()) == ("b", "train")


def test_an_empty_short_name_is_made_from_the_name(study: Study, desk: Client) -> None:
    desk.post("/research/corpora/new/", {"name": "Old Photographs, 1900", "slug": ""})
    assert Corpus.objects.filter(slug="old-photographs-1900").exists()
    values = {
        "name": "Third Stage", "slug": "", "corpus": study.corpus.pk, "procedure": "bison-audit",
        "judgments_wanted": "1", "pay": "0.65", "seed": "0",
    }  # fmt: skip
    desk.post("/research/studies/new/", values)
    assert Study.objects.filter(slug="third-stage").exists()
    again = desk.post("/research/corpora/new/", {"name": "Old photographs 1900"})
    assert "There is a corpus with this short name." in again.content.decode()
    bare = desk.post("/research/corpora/new/", {"name": "写真"})
    assert "Give the corpus a short name" in bare.content.decode()


def test_the_examples_of_the_instructions_show_an_image(study: Study) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    assert account.user is not None
    text = logged_in(account.user).get(f"/work/{page.key}/").content.decode()
    assert text.count(f'src="{static("examples/coffee.jpg")}"') == 4
    assert finders.find("examples/coffee.jpg")


def test_a_wrong_example_image_does_not_cost_the_page() -> None:
    assert example_address("https://example.org/a.jpg") == "https://example.org/a.jpg"
    with override_settings(
        STORAGES={"staticfiles": {"BACKEND": "annotation_app.static_files.HashedModulesStorage"}},
        DEBUG=False,
    ):
        assert example_address("examples/none.jpg") == "examples/none.jpg"


def test_a_machine_is_asked_to_propose(study: Study, desk: Client) -> None:
    values = {
        "machine": "palette", "directions": "t2i", "split": "test", "train_split": "test",
        "depth": "25", "query_sample": "", "seed": "0",
    }  # fmt: skip
    path = f"/research/corpora/{study.corpus.slug}/propose/"
    desk.post(path, values)
    job = Job.objects.get(kind="propose")
    assert job.arguments == {
        "corpus": study.corpus.pk, "machine": "palette", "directions": ["t2i"], "split": "test",
        "train_split": "test", "depth": 25, "query_sample": None, "seed": 0,
    }  # fmt: skip
    assert desk.post(path, values | {"split": "elsewhere"}).status_code == 422
    assert desk.post(path, values | {"query_sample": "9" * 11}).status_code == 422
    refused = desk.post(path, values | {"machine": "caption_mean"})
    assert refused.status_code == 422
    assert "proposes image to image and caption to caption only" in refused.content.decode()


def test_what_an_import_refused_is_downloaded_and_no_other_file(
    study: Study, desk: Client, settings: LazySettings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    report = tmp_path / "imports" / "report.jsonl"
    report.parent.mkdir()
    line = {
        "file": "=cmd", "place": "3", "kind": "line", "id": "", "reason": "not_json", "detail": "?",
    }  # fmt: skip
    report.write_text(json.dumps(line) + "\n")
    secret = tmp_path / "secret.jsonl"
    secret.write_text(json.dumps(line))
    job = Job.objects.create(
        kind="import", state="done", corpus=study.corpus, result={"refusals": str(report)}
    )
    path = f"/research/jobs/{job.pk}/refused.csv"
    text = b"".join(desk.get(path).streaming_content).decode()  # type: ignore[attr-defined]
    assert "not_json" in text
    assert "\n=cmd" not in text
    Job.objects.filter(pk=job.pk).update(result={"refusals": str(secret)})
    assert desk.get(path).status_code == 404


def test_a_job_tells_how_far_it_is_and_can_be_cancelled(study: Study, desk: Client) -> None:
    job = Job.objects.create(kind="open", study=study, done=3, total=9)
    assert desk.get(f"/research/jobs/{job.pk}/").json() == {
        "state": "queued", "done": 3, "total": 9, "message": "", "pace": "", "is_finished": False,
    }  # fmt: skip
    assert desk.get(f"/research/jobs/{job.pk}/cancel/").status_code == 405
    desk.post(f"/research/jobs/{job.pk}/cancel/")
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert "3 of 9" in desk.get(address(study, "")).content.decode()


@pytest.fixture
def made(study: Study, settings: LazySettings, tmp_path: Path) -> Release:
    settings.DATA_DIR = tmp_path
    return making.released(study)


def test_a_release_is_asked_for_with_its_studies(study: Study, desk: Client) -> None:
    made = draft(study)
    Study.objects.filter(pk=made.pk).update(state="closed")
    sent = {"name": "eccv", "also": [made.pk], "licence": "CC BY 4.0", "step": "major"}
    desk.post(address(study, "releases/"), sent)
    arguments = Job.objects.get(kind="release").arguments
    assert arguments == {
        "studies": [study.pk, made.pk],
        "name": "eccv",
        "by": study.corpus.owner.pk,
        "wish": {"licence": "CC BY 4.0", "free_text": None, "step": "major"},
    }


def test_a_release_cannot_take_in_a_study_of_others(study: Study, desk: Client) -> None:
    foreign = draft(study, by=making.user())
    Study.objects.filter(pk=foreign.pk).update(state="closed")
    answer = desk.post(address(study, "releases/"), {"name": "eccv", "also": [foreign.pk]})
    assert answer.status_code == 422
    assert not Job.objects.exists()


@pytest.mark.parametrize("who", ["rater", "reviewer", "researcher of another study", "nobody"])
def test_a_study_is_not_there_for_others(study: Study, made: Release, who: str) -> None:
    user = making.user(is_researcher=who == "researcher of another study")
    if who in {"rater", "reviewer"}:
        Membership.objects.create(study=study, user=user, role=who)
    elif who == "researcher of another study":
        Membership.objects.create(study=draft(study, by=user), user=user, role=Role.RATER)
    job = Job.objects.create(kind="open", study=study)
    invitation = Invitation.objects.create(study=study, created_by=study.corpus.owner)
    client = logged_in(user)
    for page in PAGES:
        assert client.get(address(study, page)).status_code == 404
    assert client.get(f"/research/releases/{made.pk}/judgments.csv").status_code == 404
    assert client.get(f"/research/jobs/{job.pk}/").status_code == 404
    for path in (
        address(study, "state/"),
        address(study, "settings/"),
        address(study, "people/"),
        address(study, "releases/"),
        address(study, f"invitations/{invitation.pk}/end/"),
        f"/research/jobs/{job.pk}/cancel/",
    ):
        assert client.post(path, {"state": "closed", "name": "x"}).status_code == 404
    study.refresh_from_db()
    assert study.state == "open"


def test_an_admin_sees_every_study(study: Study) -> None:
    client = logged_in(making.user(is_staff=True))
    assert [client.get(address(study, page)).status_code for page in PAGES] == [200] * len(PAGES)
    assert client.get(f"/research/corpora/{study.corpus.slug}/").status_code == 200


def test_pages_cost_a_fixed_number_of_statements(
    study: Study, desk: Client, django_assert_max_num_queries: Queries
) -> None:
    answered(study)
    for _ in range(12):
        member = making.user()
        Membership.objects.create(study=study, user=member, role=Role.RATER)
        Invitation.objects.create(study=study, created_by=member)
        Job.objects.create(kind="open", study=study, asked_by=member)
    for number in range(5):
        draft(study, slug=f"draft-{number}")
    for path, most in [
        ("/research/", 14),
        (address(study), 28),
        (address(study, "results/"), 12),
        (address(study, "people/"), 8),
        (address(study, "settings/"), 7),
        (address(study, "releases/"), 12),
        (f"/research/corpora/{study.corpus.slug}/", 18),
    ]:
        with django_assert_max_num_queries(most):
            assert desk.get(path).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_release_made_by_the_pipeline_is_listed(
    study: Study, desk: Client, settings: LazySettings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    answered(study)
    made = release(studies=[study], name="first", by=study.corpus.owner)
    text = desk.get(address(study, "releases/")).content.decode()
    assert f"/research/releases/{made.pk}/judgments.csv" in text


class TestAdmin:
    def test_staff_look_at_everything_and_change_nothing(self, study: Study) -> None:
        client = logged_in(making.user(is_staff=True))
        answered(study)
        names = [
            "account", "assignment", "blob", "caption", "consent", "corpus", "decision",
            "exclusion", "image", "intent", "invitation", "job", "judgment", "machine",
            "membership", "participation", "person", "proposal", "region", "release", "slot",
            "study", "studyversion", "unit", "user",
        ]  # fmt: skip
        for name in names:
            assert client.get(f"/admin/hits/{name}/").status_code == 200
            assert client.get(f"/admin/hits/{name}/add/").status_code == 403
        gold = study.units.filter(gold__isnull=False).first()
        assert gold is not None
        assert client.get(f"/admin/hits/unit/{gold.pk}/change/").status_code == 200
        assert client.post(f"/admin/hits/unit/{gold.pk}/delete/").status_code == 403

    def test_staff_cannot_make_themselves_superuser(self) -> None:
        staff = making.user(is_staff=True)
        path = f"/admin/hits/user/{staff.pk}/change/"
        assert logged_in(staff).post(path, {"is_superuser": "on"}).status_code == 403
        staff.refresh_from_db()
        assert not staff.is_superuser

    def test_superusers_change_flags_and_nothing_else(self) -> None:
        client = logged_in(making.user(is_staff=True, is_superuser=True))
        other = making.user("other")
        path = f"/admin/hits/user/{other.pk}/change/"
        client.post(path, {"is_active": "on", "is_researcher": "on", "email": "x@example.org"})
        other.refresh_from_db()
        assert (other.is_researcher, other.email) == (True, "other@example.org")
        assert client.post(f"/admin/hits/user/{other.pk}/delete/").status_code == 403

    def test_others_have_no_admin_site(self, study: Study) -> None:
        assert logged_in(study.corpus.owner).get("/admin/hits/unit/").status_code == 302

    def test_a_list_costs_a_fixed_number_of_statements(
        self, study: Study, django_assert_max_num_queries: Queries
    ) -> None:
        for _ in range(4):
            answered(study)
        client = logged_in(making.user(is_staff=True))
        for name in ("slot", "judgment", "decision", "assignment", "unit", "consent"):
            with django_assert_max_num_queries(9):
                client.get(f"/admin/hits/{name}/")


def test_figures_that_were_dear_are_kept_ten_times_as_long_as_they_took() -> None:
    dear = Kept(value=1, mark="before", at=time.time() - 5, cost=0.7)
    assert dear.is_good("a decision later")
    assert not Kept(value=1, mark="before", at=time.time() - 8, cost=0.7).is_good("later")
    assert not Kept(value=1, mark="before", at=time.time(), cost=0.01).is_good("later")
    assert Kept(value=1, mark="same", at=time.time() - 50, cost=0.01).is_good("same")
    assert not Kept(value=1, mark="same", at=time.time() - 61, cost=9).is_good("same")


@pytest.mark.parametrize("kind", ["corpora", "studies"])
def test_a_wrong_short_name_is_told_in_plain_words(desk: Client, kind: str) -> None:
    wrong = desk.post(f"/research/{kind}/new/", {"name": "New", "slug": "no good!"})
    text = wrong.content.decode()
    assert "Use plain letters, digits, hyphens and underscores only." in text
    assert '<label for="id_slug">Short name</label>' in text
    assert "“slug”" not in text


def test_fields_to_put_right_are_told_apart(desk: Client) -> None:
    text = desk.post("/research/corpora/new/", {"name": "", "slug": "no good!"}).content.decode()
    assert '<a href="#id_name">Name</a>, <a href="#id_slug">Short name</a> below.' in text


def test_one_proposal_is_one(study: Study, desk: Client) -> None:
    chosen = study.corpus.proposals.first()
    assert chosen is not None
    made = draft(study)
    answer = desk.post(address(made, "proposals/"), {"proposal": chosen.pk}, follow=True)
    assert "1 proposal chosen." in answer.content.decode()


def test_a_page_pays_a_hundred_dollars_at_most(study: Study, desk: Client) -> None:
    values = {
        "name": "Dear", "slug": "dear", "corpus": study.corpus.pk, "procedure": "bison-audit",
        "judgments_wanted": "1", "pay": "100.01", "seed": "0",
    }  # fmt: skip
    told = "A page pays at most $100. Was it meant in cents?"
    assert told in desk.post("/research/studies/new/", values).content.decode()
    changed = version_fields(desk, study) | {"pay": "650"}
    assert told in desk.post(address(study, "settings/"), changed).content.decode()
    with pytest.raises(Refused, match="at most"):
        change_version(study=study, by=study.corpus.owner, pay="650")
    desk.post("/research/studies/new/", values | {"pay": "100"})
    assert Study.objects.filter(slug="dear").exists()


@pytest.mark.parametrize("model", [AccessAttempt, AccessLog, AccessFailureLog])
def test_superusers_too_only_look_at_attempts_to_log_in(model: Any) -> None:
    counted = {"failures_since_start": 1} if model is AccessAttempt else {}
    row = model.objects.create(username="rosa", path_info="/login/", **counted)
    client = logged_in(making.user(is_staff=True, is_superuser=True))
    folder = f"/admin/axes/{model._meta.model_name}/"
    assert client.get(folder).status_code == 200
    assert client.get(f"{folder}{row.pk}/change/").status_code == 200
    assert client.post(f"{folder}{row.pk}/change/", {"username": "x"}).status_code == 403
    assert client.post(f"{folder}{row.pk}/delete/", {"post": "yes"}).status_code == 403

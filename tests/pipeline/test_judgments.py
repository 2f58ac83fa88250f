"""Judgments made elsewhere: stored as if given here, each line once, and nothing by halves."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hits.models import (
    Account,
    Assignment,
    Consent,
    Decision,
    Exclusion,
    Judgment,
    JudgmentImport,
    Participation,
    Person,
    Slot,
    Study,
    Unit,
)
from hits.pipeline.aggregate import StudySource
from hits.pipeline.draw import draw
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.judgments import import_judgments
from hits.pipeline.load import refusals
from hits.pipeline.open import create_study, open_study, set_state
from hits.pipeline.people import link
from hits.pipeline.release import release
from hits.pipeline.rows import import_rows
from hits.pipeline.shelf import path_of
from hits.pipeline.spent import spent_by_channel
from hits.protocol import protocol
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = "image,caption,gold\n1,20,\n1,30,\n2,10,\n1,10,yes\n3,10,no\n"


def pairs(tmp_path: Path, wanted: int = 2, slug: str = "pairs", **settings: Any) -> Study:
    """Three pairs to judge and two golds."""
    corpus = making.corpus(images=4)
    return on(corpus, tmp_path, slug, wanted, **settings)


def on(corpus: Any, tmp_path: Path, slug: str, wanted: int = 2, **settings: Any) -> Study:
    study = create_study(
        slug=slug,
        name="Pairs",
        corpus=corpus,
        protocol_slug="matching",
        by=corpus.owner,
        settings={"justification": False, **settings},
        judgments_wanted=wanted,
        pay="0.65",
    )
    file = tmp_path / "rows.csv"
    file.write_text(ROWS)
    import_rows(study=study, source=str(file))
    open_study(study=study)
    return study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return pairs(tmp_path)


def bring(study: Study, tmp_path: Path, text: str, name: str = "j.csv", **values: Any) -> Any:
    file = tmp_path / name
    file.write_text(text)
    came = import_judgments(study=study, source=str(file), **values)
    assert_places_reconcile()
    return came


def refused(came: dict[str, Any]) -> list[tuple[str, str]]:
    return [(line["place"], line["reason"]) for line in refusals(came["refusals"])]


def states(study: Study) -> list[str]:
    return sorted(Slot.objects.filter(unit__study=study).values_list("state", flat=True))


PLAIN = "worker,image,caption,choice\nann,1,20,yes\nann,1,30,no\nbob,1,20,partial_yes\n"


def test_answers_are_stored_counted_and_used(study: Study, tmp_path: Path) -> None:
    came = bring(study, tmp_path, PLAIN)
    assert {name: came[name] for name in ("added", "counted", "pages", "people", "refused")} == {
        "added": 3, "counted": 3, "pages": 2, "people": 2, "refused": 0,
    }  # fmt: skip
    assert set(Assignment.objects.values_list("state", "use", "payment")) == {
        ("submitted", "used", "approved")
    }
    units = list(StudySource([study], protocol("matching")).units())
    assert [dict(unit.aggregate.distribution) for unit in units] == [
        {"yes": 1, "partial_yes": 1, "mostly_no": 0, "no": 0},
        {"yes": 0, "partial_yes": 0, "mostly_no": 0, "no": 1},
    ]


def test_the_same_file_again_adds_nothing(study: Study, tmp_path: Path) -> None:
    bring(study, tmp_path, PLAIN)
    again = bring(study, tmp_path, PLAIN)
    assert (again["added"], again["there"], again["refused"]) == (0, 3, 0)
    assert (Judgment.objects.count(), Decision.objects.count()) == (3, 4)
    assert (Assignment.objects.count(), JudgmentImport.objects.count()) == (2, 1)


def test_more_of_a_file_adds_only_what_is_new(study: Study, tmp_path: Path) -> None:
    bring(study, tmp_path, PLAIN)
    said: list[str] = []
    more = bring(
        study,
        tmp_path,
        PLAIN + "cy,2,10,no\n",
        tell=lambda done, total=None, message="": said.append(message),
    )
    assert (more["added"], more["there"], more["people"]) == (1, 3, 1)
    assert said[-1] == "1 judgment added."


def test_a_worker_judges_a_unit_once(study: Study, tmp_path: Path) -> None:
    came = bring(study, tmp_path, PLAIN + "ann,1,20,no\n")
    assert refused(came) == [("line 5", "repeated")]
    came = bring(study, tmp_path, "worker,image,caption,choice\nann,1,20,no\n")
    assert refused(came) == [("line 2", "judged")]
    assert Judgment.objects.count() == 3


def test_judgments_beyond_what_is_wanted_are_kept_and_not_counted(
    study: Study, tmp_path: Path
) -> None:
    lines = "".join(f"w{number},1,20,yes\n" for number in range(5))
    came = bring(study, tmp_path, "worker,image,caption,choice\n" + lines)
    assert (came["counted"], came["surplus"]) == (2, 3)
    assert states(study) == ["counted"] * 2 + ["surplus"] * 3


def test_what_is_wanted_is_raised_where_that_is_asked_for(study: Study, tmp_path: Path) -> None:
    lines = "".join(f"w{number},1,20,yes\n" for number in range(5))
    text = "worker,image,caption,choice\n" + lines
    came = bring(study, tmp_path, text, raise_wanted=True)
    assert (came["counted"], came["surplus"]) == (5, 0)
    assert sorted(Unit.objects.filter(gold__isnull=True).values_list("wanted", "counted")) == [
        (2, 0), (2, 0), (5, 5),
    ]  # fmt: skip


def test_places_that_raters_hold_are_left_to_them(study: Study, tmp_path: Path) -> None:
    draw(study=study, account=making.rater(study))
    came = bring(study, tmp_path, "worker,image,caption,choice\na,1,20,yes\nb,1,20,yes\n")
    assert (came["counted"], came["surplus"]) == (1, 1)


def test_golds_are_checked_as_on_any_page(study: Study, tmp_path: Path) -> None:
    header = "worker,page,image,caption,choice\n"
    good = "ann,p1,1,20,yes\nann,p1,1,10,yes\nann,p1,3,10,no\n"
    bad = "bob,p2,1,20,yes\nbob,p2,1,10,no\n"
    bring(study, tmp_path, header + good + bad)
    found = Assignment.objects.order_by("pk").values_list("use", "golds_shown", "golds_failed")
    assert list(found) == [("used", 2, 0), ("pending", 1, 1)]


def test_lines_of_one_page_are_one_assignment_in_their_order(study: Study, tmp_path: Path) -> None:
    lines = "ann,p1,1,30,no,2.5\nbob,p2,1,20,yes,\nann,p1,1,20,yes,4\n"
    bring(study, tmp_path, "worker,page,image,caption,choice,seconds\n" + lines)
    page = Assignment.objects.get(account__external_id__endswith="/ann")
    said = page.slots.order_by("position").values_list(
        "position", "judgment__answer__choice", "judgment__seconds"
    )
    assert list(said) == [(1, "no", 2.5), (2, "yes", 4.0)]


def test_without_pages_lines_fill_pages_of_the_study(tmp_path: Path) -> None:
    study = pairs(tmp_path, candidates_a_page=2, true_positives_a_page=0, true_negatives_a_page=0)
    bring(study, tmp_path, "worker,image,caption,choice\na,1,20,yes\na,1,30,no\na,2,10,no\n")
    pages = Assignment.objects.order_by("pk")
    assert [page.slots.count() for page in pages] == [2, 1]


def test_rejected_work_is_kept_and_not_used(study: Study, tmp_path: Path) -> None:
    text = "worker,image,caption,choice,rejected\na,1,20,yes,Too fast\na,1,30,no,\n"
    came = bring(study, tmp_path, text)
    assert (came["counted"], came["not_used"]) == (1, 1)
    page = Assignment.objects.get(use="not_used")
    assert (page.payment, page.slots.get().state) == ("refused", "not_used")
    assert page.decisions.get(kind="use").reason == "Too fast"


def test_workers_are_people_without_consent(study: Study, tmp_path: Path) -> None:
    bring(study, tmp_path, PLAIN)
    accounts = Account.objects.filter(channel="import").order_by("external_id")
    assert [account.external_id for account in accounts] == [
        f"{study.corpus_id}/ann", f"{study.corpus_id}/bob",
    ]  # fmt: skip
    done = Participation.objects.order_by("person").values_list("pages_done", "judgments_done")
    assert sorted(done) == [(1, 1), (1, 2)]
    assert not Consent.objects.exists()


def test_a_name_is_one_person_within_a_corpus_and_another_elsewhere(
    study: Study, tmp_path: Path
) -> None:
    bring(study, tmp_path, PLAIN)
    beside = on(study.corpus, tmp_path, "beside")
    bring(beside, tmp_path, PLAIN)
    assert Person.objects.filter(accounts__channel="import").count() == 2
    bring(pairs(tmp_path, slug="elsewhere"), tmp_path, PLAIN)
    assert Person.objects.filter(accounts__channel="import").count() == 4


def test_who_worked_in_a_study_that_rules_this_one_out_is_refused(
    study: Study, tmp_path: Path
) -> None:
    bring(study, tmp_path, PLAIN)
    beside = on(study.corpus, tmp_path, "beside")
    Exclusion.objects.create(study=beside, other=study)
    came = bring(beside, tmp_path, PLAIN + "cy,1,20,no\n")
    assert came["added"] == 1
    assert {reason for _, reason in refused(came)} == {"kept-out"}


def test_two_names_that_are_one_person_judge_a_unit_once(study: Study, tmp_path: Path) -> None:
    bring(study, tmp_path, "worker,image,caption,choice\nann,1,20,yes\nanna,1,30,yes\n")
    ann, anna = Account.objects.filter(channel="import").order_by("external_id")
    link(account=anna, same_as=ann)
    came = bring(study, tmp_path, "worker,image,caption,choice\nanna,1,20,no\nanna,2,10,no\n")
    assert refused(came) == [("line 2", "judged")]


def test_an_import_is_on_record(study: Study, tmp_path: Path) -> None:
    by = study.corpus.owner
    bring(study, tmp_path, PLAIN, by=by, called="crowd.csv")
    made = JudgmentImport.objects.get()
    assert (made.study, made.by, made.file_name, made.counts["added"]) == (
        study, by, "crowd.csv", 3,
    )  # fmt: skip
    assert len(made.sha256) == 64
    reasons = Decision.objects.filter(kind="use", by=None).values_list("reason", flat=True)
    assert set(reasons) == {f"No golds: import {made.pk} of crowd.csv."}
    assert study.reading.asked_at is not None


def test_imported_pages_cost_nothing_here(study: Study, tmp_path: Path) -> None:
    bring(study, tmp_path, PLAIN)
    (spent,) = spent_by_channel(study)
    assert spent.total == spent.owed == 0
    assert spent.pace is None


def study_of_row(slug: str, row: dict[str, Any], tmp_path: Path) -> Study:
    corpus = making.corpus(images=4)
    study = create_study(
        slug="shown", name="Shown", corpus=corpus, protocol_slug=slug, by=corpus.owner
    )
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row))
    import_rows(study=study, source=str(file))
    open_study(study=study)
    return study


BATCH = """HITId,HITTypeId,Title,Reward,AssignmentId,WorkerId,AssignmentStatus,SubmitTime,\
WorkTimeInSeconds,LifetimeApprovalRate,RequesterFeedback,Input.image,Input.caption,\
Input.image_url,Answer.choice,Answer.reasons,Approve,Reject
H1,T,Pairs,$0.65,A1,W1,Approved,Tue Sep 29 10:05:27 PDT 2020,12,99% (9/9),,1,20,https://x/1,\
partial_yes,absent|grammar,x,
H1,T,Pairs,$0.65,A2,W2,Rejected,Tue Sep 29 10:06:00 PDT 2020,2,99% (9/9),Too fast,1,20,\
https://x/1,yes,,,x
"""


def test_a_batch_of_mechanical_turk_is_read_as_it_comes(tmp_path: Path) -> None:
    study = pairs(tmp_path, justification=True)
    came = bring(study, tmp_path, BATCH)
    assert (came["added"], came["counted"], came["not_used"], came["refused"]) == (2, 1, 1, 0)
    first, second = Judgment.objects.select_related("slot__assignment").order_by("pk")
    assert first.answer == {"choice": "partial_yes", "reasons": ["absent", "grammar"]}
    assert first.seconds == 12
    assert first.slot.assignment.submitted_at is not None
    assert first.slot.assignment.submitted_at.isoformat() == "2020-09-29T17:05:27+00:00"
    reason = second.slot.assignment.decisions.get(kind="use").reason
    assert reason == "Rejected at the marketplace: Too fast"


def test_a_renovated_text_of_a_batch_may_have_any_signs_in_it(tmp_path: Path) -> None:
    row = {"image": 1, "caption": 10, "proposed": "A sign says stop."}
    study = study_of_row("renovation", row, tmp_path)
    head = "WorkerId,Input.image,Input.caption,Input.proposed,Answer.choice,Answer.text\n"
    bring(study, tmp_path, f"{head}W1,1,10,A sign says stop.,correct,A sign says stop|go.\n")
    (text,) = Judgment.objects.values_list("answer__text", flat=True)
    assert text == "A sign says stop|go."


def test_json_lines_name_units_by_their_keys_and_hold_lists(tmp_path: Path) -> None:
    study = pairs(tmp_path, justification=True)
    unit = Unit.objects.filter(gold__isnull=True).earliest("pk")
    line = {"worker": 7, "unit": unit.key, "choice": "mostly_no", "reasons": ["wrong", "grammar"],
            "errors": ["age"], "submitted_at": "2021-05-01T10:00:00", "seconds": 3}  # fmt: skip
    bring(study, tmp_path, json.dumps(line), "j.jsonl")
    judgment = Judgment.objects.get()
    assert judgment.slot.unit == unit
    assert judgment.answer == {
        "choice": "mostly_no", "reasons": ["wrong", "grammar"], "errors": ["age"],
    }  # fmt: skip


def test_what_a_file_says_and_the_form_does_not_know_is_refused_and_not_lost(
    tmp_path: Path,
) -> None:
    study = pairs(tmp_path, justification=True)
    unit = Unit.objects.filter(gold__isnull=True).earliest("pk")
    line = {"worker": 7, "unit": unit.key, "choice": "mostly_no"}
    for wrong in (
        {"reasons": ["grammar", "bogus"]},
        {"reasons": ["wrong"], "errors": ["colour", "quantity"]},
        {"reasons": ["grammar"], "choice": ["mostly_no", "yes"]},
    ):
        bring(study, tmp_path, json.dumps(line | wrong), "j.jsonl")
    assert not Judgment.objects.exists()


@pytest.mark.parametrize(
    ("slug", "row", "choice", "wrong"),
    [
        ("bison_images", {"caption": 10, "positive": 1, "negative": 2}, "first",
         [None, {"first": "banana"}]),
        ("bison_captions", {"positive": 1, "negative": 2}, "1",
         [None, {"captions": [1, 2]}, {"captions": []}]),
        ("preference", {"caption": 10, "outputs": {"a": [1], "b": [2]}}, "left",
         [None, {"left": "bogus", "right": "nonsense"}, {"left": "a", "right": "a"}]),
        ("right_text", {"image": 1, "wrong": "A dog.", "right": "A cat."}, "1",
         [None, {"order": ["bogus", "proposed"]}]),
    ],
)  # fmt: skip
def test_answers_are_read_only_by_an_order_in_which_the_unit_can_have_been_shown(
    tmp_path: Path, slug: str, row: dict[str, Any], choice: str, wrong: list[Any]
) -> None:
    study = study_of_row(slug, row, tmp_path)
    unit = Unit.objects.get(study=study)
    line = {"worker": 7, "unit": unit.key, "choice": choice}
    for shown in wrong:
        bring(study, tmp_path, json.dumps(line | {"shown": shown}), "j.jsonl")
    assert not Judgment.objects.exists()
    right = protocol(slug).arrange(unit.payload, 1, Random(3))
    bring(study, tmp_path, json.dumps(line | {"shown": right}), "j.jsonl")
    assert Judgment.objects.count() == 1


PAIR: dict[str, Any] = {"image": 1, "caption": 20}
GOOD: dict[str, Any] = {"worker": "a", **PAIR, "choice": "yes"}
BAD: list[tuple[str, dict[str, Any]]] = [
    ("no-worker", {**PAIR, "choice": "yes"}),
    ("no-unit", {"worker": "a", "choice": "yes"}),
    ("no-unit", {"worker": "a", "unit": "0:0", "choice": "yes"}),
    ("no-unit", GOOD | {"image": 4, "caption": 40}),
    ("no-image", GOOD | {"image": 99}),
    ("no-caption", GOOD | {"caption": 99}),
    ("not-a-row", GOOD | {"caption": None}),
    ("not-a-row", GOOD | {"image": {"x": 1}}),
    ("bad-answer", GOOD | {"choice": "maybe"}),
    ("bad-answer", {"worker": "a", **PAIR}),
    ("bad-answer", GOOD | {"choice": {"yes": 1}}),
    ("bad-seconds", GOOD | {"seconds": -1}),
    ("bad-seconds", GOOD | {"seconds": "nan"}),
    ("bad-time", GOOD | {"submitted_at": "soon"}),
    ("bad-time", GOOD | {"submitted_at": "0001-01-01T00:00:00"}),
    ("bad-time", GOOD | {"submitted_at": "2999-01-01T00:00:00"}),
    ("bad-shown", GOOD | {"shown": "left"}),
    ("bad-shown", GOOD | {"shown": {"a": 1}}),
    ("too-long", GOOD | {"worker": "a" * 151}),
    ("not-text", GOOD | {"worker": ["a"]}),
    ("not-text", GOOD | {"worker": "a\0"}),
    ("not-text", GOOD | {"choice": "\ud800"}),
    ("too-deep", GOOD | {"choice": json.loads("[" * 300 + "]" * 300)}),
    ("too-deep", GOOD | {"choice": "[" * 300 + "]" * 300}),
]


def test_wrong_lines_are_reported_and_the_others_are_taken(study: Study, tmp_path: Path) -> None:
    lines = [*(line for _, line in BAD), GOOD]
    text = "\n".join([*map(json.dumps, lines), "{", "[]"])
    came = bring(study, tmp_path, text, "j.jsonl")
    assert came["added"] == 1
    told = sorted(refused(came), key=lambda each: int(each[0].split()[1]))
    expected = [reason for reason, _ in BAD] + ["not-json", "not-an-object"]
    assert [reason for _, reason in told] == expected


def test_a_file_that_breaks_off_leaves_nothing_behind(study: Study, tmp_path: Path) -> None:
    file = tmp_path / "j.csv"
    file.write_bytes(PLAIN.encode() + b'"' + b"x" * (2 << 20))
    with pytest.raises(Refused):
        import_judgments(study=study, source=str(file))
    assert not Judgment.objects.exists()
    assert not Account.objects.filter(channel="import").exists()


def test_a_draft_and_a_closed_study_take_no_judgments(study: Study, tmp_path: Path) -> None:
    draft = create_study(
        slug="draft", name="x", corpus=study.corpus, protocol_slug="matching", by=study.corpus.owner
    )
    with pytest.raises(Refused):
        bring(draft, tmp_path, PLAIN)
    set_state(study=study, state="closed")
    with pytest.raises(Closed):
        bring(study, tmp_path, PLAIN)


def test_a_release_says_what_was_imported(study: Study, tmp_path: Path) -> None:
    bring(study, tmp_path, PLAIN)
    made = release(studies=[study], name="r", by=study.corpus.owner)
    (entry,) = made.manifest["studies"]
    assert [(each["file"], each["judgments"]) for each in entry["imports"]] == [("j.csv", 3)]
    judgments = path_of(made.files.get(name="judgments.csv")).read_text().splitlines()
    assert len(judgments) == 4

import csv
import hashlib
import io
import json
import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.db.models import F, Value
from django.db.models.functions import Concat
from eccv_caption import Metrics

from hits.exporters.streams import as_csv, csv_of_columns
from hits.models import Assignment, Image, Machine, Membership, Release, Role, Study, Unit
from hits.pipeline import aggregate
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.errors import NotAllowed, NothingLeft, Refused
from hits.pipeline.manifest import DESCRIBING
from hits.pipeline.open import create_study, open_study
from hits.pipeline.release import release
from hits.pipeline.review import decide
from hits.pipeline.shelf import path_of
from hits.pipeline.submit import submit
from hits.protocol import protocol
from tests import making

pytestmark = pytest.mark.django_db(transaction=True)

TABLES = ("judgments", "units")
NO_QUESTIONS_WHY = {"justification": False}


def finish(study: Study, choice: str = "yes") -> None:
    account = making.rater(study)
    while True:
        try:
            making.work(study, account, choice)
        except NothingLeft:
            break
    check_submitted(limit=10_000)


def text_of(made: Release, name: str) -> str:
    return path_of(made.files.get(name=name)).read_text()


@pytest.fixture
def both_directions() -> list[Study]:
    corpus = making.corpus(images=30)
    first = making.study(corpus, settings=NO_QUESTIONS_WHY)
    second = making.study(corpus, settings=NO_QUESTIONS_WHY, direction="t2i", continues=[first])
    finish(first, "yes")
    finish(second, "partial_yes")
    return [first, second]


def test_the_release_loads_in_eccv_caption_and_its_metrics_are_computed_on_it(
    both_directions: list[Study],
) -> None:
    made = release(studies=both_directions, name="both", by=both_directions[0].corpus.owner)
    files = [
        str(path_of(made.files.get(name=f"eccv_{way}.json")))
        for way in ("image_to_caption", "caption_to_image")
    ]
    metrics = Metrics()
    metrics.set_eccv_gts(*files)
    truth = metrics.eccv_gts
    assert len(truth["i2t"]) == 30
    assert len(truth["t2i"]) == 60
    everything = {
        "i2t": [int(pk) for pk in _ids("caption", both_directions)],
        "t2i": [int(pk) for pk in _ids("image", both_directions)],
    }
    perfect = {
        way: {
            query: found + [other for other in everything[way] if other not in found]
            for query, found in truth[way].items()
        }
        for way in ("i2t", "t2i")
    }
    scores = metrics.compute_all_metrics(
        perfect["i2t"],
        perfect["t2i"],
        target_metrics=("eccv_map_at_r", "eccv_rprecision", "eccv_r1"),
        Ks=(1,),
    )
    assert scores["eccv_map_at_r"] == {"i2t": 1.0, "t2i": 1.0}
    worst = {
        way: {query: list(reversed(ranked)) for query, ranked in perfect[way].items()}
        for way in ("i2t", "t2i")
    }
    scores = metrics.compute_all_metrics(
        worst["i2t"], worst["t2i"], target_metrics=("eccv_map_at_r", "eccv_r1"), Ks=(1,)
    )
    assert scores["eccv_r1"] == {"i2t": 0.0, "t2i": 0.0}


def _ids(end: str, studies: list[Study]) -> list[str]:
    corpus = studies[0].corpus
    items = corpus.captions if end == "caption" else corpus.images
    return list(items.order_by("pk").values_list("external_id", flat=True))


def test_a_pair_asked_in_one_direction_is_not_asked_in_the_other(
    both_directions: list[Study],
) -> None:
    first, second = (
        set(Unit.objects.filter(study=study, gold__isnull=True).values_list("key", flat=True))
        for study in both_directions
    )
    assert first
    assert second
    assert not first & second


def test_a_positive_stands_in_both_files_where_both_ends_are_queries(
    both_directions: list[Study],
) -> None:
    made = release(studies=both_directions, name="both", by=both_directions[0].corpus.owner)
    captions_of = json.loads(text_of(made, "eccv_image_to_caption.json"))
    images_of = json.loads(text_of(made, "eccv_caption_to_image.json"))
    pairs = {(int(i), c) for i, found in captions_of.items() for c in found}
    assert pairs == {(i, int(c)) for c, found in images_of.items() for i in found}


def test_an_original_pair_that_people_said_no_to_is_not_a_positive() -> None:
    study = making.study(settings=NO_QUESTIONS_WHY)
    finish(study, "no")
    made = release(studies=[study], name="all-no", by=study.corpus.owner)
    captions_of = json.loads(text_of(made, "eccv_image_to_caption.json"))
    judged = {
        (row["image_ids"], int(row["caption_ids"]))
        for row in csv.DictReader(text_of(made, "units.csv").splitlines())
    }
    assert judged
    assert not judged & {(i, c) for i, found in captions_of.items() for c in found}


def test_the_same_data_give_the_same_bytes_and_no_second_release() -> None:
    study = making.study(settings=NO_QUESTIONS_WHY)
    making.work(study, making.rater(study))
    check_submitted()
    first = release(studies=[study], name="one", by=study.corpus.owner)
    assert release(studies=[study], name="one", by=study.corpus.owner) == first
    under_another_name = release(studies=[study], name="two", by=study.corpus.owner)
    for name in ("judgments.csv", "units.csv", "eccv_image_to_caption.json"):
        assert text_of(first, name) == text_of(under_another_name, name)


def test_a_new_decision_makes_a_new_release_and_leaves_the_old_one() -> None:
    study = making.study(settings=NO_QUESTIONS_WHY)
    page = making.work(study, making.rater(study))
    check_submitted()
    first = release(studies=[study], name="one", by=study.corpus.owner)
    before = text_of(first, "units.csv")
    decide(
        assignment=page, by=study.corpus.owner, use="not_used", payment="approved", reason="Guess"
    )
    second = release(studies=[study], name="one", by=study.corpus.owner)
    assert second.version == "1.1"
    assert text_of(first, "units.csv") == before
    assert len(text_of(second, "units.csv").splitlines()) == 1
    entry = second.manifest["studies"][0]
    assert entry["pages_not_used_by_reason"] == {"Guess": 1}
    assert entry["pages"] == {"not_used": 1}


def test_the_manifest_states_size_and_checksum_of_every_file() -> None:
    study = making.study(settings=NO_QUESTIONS_WHY)
    making.work(study, making.rater(study))
    made = release(studies=[study], name="one", by=study.corpus.owner)
    for file in made.files.all():
        data = path_of(file).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file.size, file.sha256)
    manifest = json.loads(text_of(made, "manifest.json"))
    assert set(manifest["files"]) == {
        "eccv_image_to_caption.json",
        "eccv_caption_to_image.json",
        *(f"{table}.{form}" for table in TABLES for form in ("csv", "jsonl", "parquet")),
        "README.md",
        "croissant.json",
    }


def test_pages_that_wait_for_a_person_are_listed_but_not_in_the_dataset() -> None:
    study = making.study(settings=NO_QUESTIONS_WHY)
    account = making.rater(study)
    page = draw(study=study, account=account)
    submit(assignment_key=page.key, account=account, fields=making.answers(20, "no"))
    check_submitted()
    assert Assignment.objects.get(pk=page.pk).use == "pending"
    made = release(studies=[study], name="one", by=study.corpus.owner)
    rows = list(csv.DictReader(text_of(made, "judgments.csv").splitlines()))
    assert {row["use"] for row in rows} == {"pending"}
    assert len(rows) == 20
    assert len(text_of(made, "units.csv").splitlines()) == 1


@pytest.mark.parametrize(
    "statement", ["UPDATE hits_release SET name = 'x'", "DELETE FROM hits_releasefile"]
)
def test_a_release_never_changes(statement: str) -> None:
    study = making.study(settings=NO_QUESTIONS_WHY)
    making.work(study, making.rater(study))
    release(studies=[study], name="one", by=study.corpus.owner)
    with pytest.raises(DatabaseError, match="only ever added"), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize(
    ("start", "written"),
    [
        ("=", "'="),
        ("+", "'+"),
        ("-", "'-"),
        ("@", "'@"),
        ("%", "'%"),
        ("|", "'\\|"),
        ("\t", "'\t"),
        ("\n", "'\n"),
        ("\r", "'\n"),
        ("\r\n", "'\r\n"),
    ],
)
@pytest.mark.parametrize("column", [0, 1, 2])
def test_no_cell_starts_as_a_formula_does(start: str, written: str, column: int) -> None:
    row: list[object] = ["a", "b", 3]
    row[column] = f"{start}SUM(A1)"
    text = "".join(as_csv(["x", "y", "z"], [["a", "b", 3], row, ["a", 'say "-1"', -3]]))
    header, before, found, after = csv.reader(io.StringIO(text, newline=""))
    assert (header, before, after) == (["x", "y", "z"], ["a", "b", "3"], ["a", 'say "-1"', "-3"])
    assert found[column] == f"{written}SUM(A1)"


def test_a_formula_in_the_header_or_after_a_lone_carriage_return_starts_no_cell() -> None:
    text = "".join(as_csv(["=x", "y"], [["harmless\r=SUM(A1)", 'quoted, "=1"']]))
    assert text == '\'=x,y\n"harmless\n=SUM(A1)","quoted, ""=1"""\n'


def test_one_hostile_cell_among_many_rows_is_found() -> None:
    said = ["=1+1" if number == 1234 else "fine" for number in range(3000)]
    lines = "".join(as_csv(["n", "said"], enumerate(said))).splitlines()
    assert lines[1 + 1234] == "1234,'=1+1"
    said[1234] = "'=1+1"
    assert lines == ["n,said", *(f"{number},{cell}" for number, cell in enumerate(said))]


@pytest.mark.parametrize(
    "cell", ["plain", "", None, 3, 4.5, True, "a,b", 'a "b"', "a\nb", "a\rb", "=1", "\t1", "\n"]
)
@pytest.mark.parametrize("others", [1, 0])
def test_csv_from_columns_is_csv_from_rows(cell: object, others: int) -> None:
    rows: list[list[Any]] = [[cell, *["x"] * others], ["y", *[7] * others], ["", *[None] * others]]
    columns = list(zip(*rows, strict=True))
    assert csv_of_columns(columns) == "".join(as_csv(rows[0], rows[1:]))


def test_what_people_and_imported_files_say_is_defused_in_every_column() -> None:
    study = making.study(settings={"justification": True})
    Image.objects.update(external_id=Concat(Value("=HYPERLINK"), F("external_id")))
    Machine.objects.update(name=Concat(Value("@"), F("name")))
    account = making.rater(study)
    page = draw(study=study, account=account)
    fields = making.truthful(page)
    first, second = page.slots.filter(unit__gold__isnull=True).order_by("position")[:2]
    said = {"choice": ["mostly_no"], "reasons": ["wrong"], "errors": ["other"], "other": ["+1+1"]}
    fields |= {f"q{first.position}-{name}": value for name, value in said.items()}
    fields[f"q{second.position}-problem"] = ["-2+3"]
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    made = release(studies=[study], name="hostile", by=study.corpus.owner)
    rows = {
        int(row["position"]): row
        for row in csv.DictReader(io.StringIO(text_of(made, "judgments.csv"), newline=""))
    }
    assert {row["image_ids"][:11] for row in rows.values()} == {"'=HYPERLINK"}
    assert rows[first.position]["proposed_by"].startswith("'@machine")
    assert rows[first.position]["other"] == "'+1+1"
    assert rows[second.position]["problem"] == "'-2+3"
    units = list(csv.DictReader(io.StringIO(text_of(made, "units.csv"), newline="")))
    assert {row["image_ids"][:11] for row in units} == {"'=HYPERLINK"}


def test_a_judgment_names_who_proposed_its_unit_best_first_and_when_it_was_submitted() -> None:
    study = making.study(settings=NO_QUESTIONS_WHY)
    page = making.work(study, making.rater(study))
    page.refresh_from_db()
    assert page.submitted_at is not None
    made = release(studies=[study], name="one", by=study.corpus.owner)
    rows = {
        int(row["position"]): row
        for row in csv.DictReader(text_of(made, "judgments.csv").splitlines())
    }
    assert len(rows) == 20
    for slot in page.slots.select_related("unit"):
        row = rows[slot.position]
        sources = slot.unit.sources.select_related("proposal__machine").order_by(
            "rank", "proposal__machine__name", "proposal"
        )
        assert row["proposed_by"] == ";".join(
            f"{source.proposal.machine}|i2t|{source.rank}" for source in sources
        )
        assert row["best_rank"] == (str(sources[0].rank) if sources else "")
        assert row["submitted_at"] == page.submitted_at.isoformat(timespec="seconds")


def test_batches_do_not_show_in_a_release(
    both_directions: list[Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = both_directions[0].corpus.owner
    whole = release(studies=both_directions, name="whole", by=owner)
    monkeypatch.setattr(aggregate, "BATCH", 7)
    piecemeal = release(studies=both_directions, name="piecemeal", by=owner)
    one, two = (
        {name: file for name, file in made.manifest["files"].items() if name not in DESCRIBING}
        for made in (whole, piecemeal)
    )
    assert one == two
    assert len(one) == 8


def test_the_manifest_counts_what_is_in_the_files_and_why_the_rest_is_not() -> None:
    study = making.study(settings=NO_QUESTIONS_WHY)
    making.work(study, making.rater(study))
    account = making.rater(study)
    page = draw(study=study, account=account)
    submit(assignment_key=page.key, account=account, fields=making.answers(20, "no"))
    check_submitted()
    made = release(studies=[study], name="one", by=study.corpus.owner)
    entry = made.manifest["studies"][0]
    units = list(csv.DictReader(text_of(made, "units.csv").splitlines()))
    assert entry["units_judged"] == entry["units_complete"] == len(units) == 18
    assert entry["judgments"] == {"used": 18, "waits for review": 18}


def test_ids_that_are_no_numbers_are_kept_as_they_are() -> None:
    study = making.study(settings=NO_QUESTIONS_WHY)
    caption = study.corpus.captions.order_by("pk").first()
    assert caption is not None
    type(caption).objects.filter(pk=caption.pk).update(external_id="c-one")
    made = release(studies=[study], name="one", by=study.corpus.owner)
    captions_of = json.loads(text_of(made, "eccv_image_to_caption.json"))
    assert captions_of[caption.image.external_id][-1] == "c-one"


def test_studies_of_different_corpora_are_not_released_together() -> None:
    first = making.study(making.corpus(images=12))
    owner = first.corpus.owner
    second = making.study(making.corpus(images=12))
    Membership.objects.create(study=second, user=owner, role=Role.RESEARCHER)
    with pytest.raises(Refused, match="different corpora"):
        release(studies=[first, second], name="both", by=owner)
    assert not Release.objects.exists()


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "", "a" * 81, "one\n", "a b"])
def test_a_name_that_is_no_short_name_writes_nothing(name: str) -> None:
    study = making.study(making.corpus(images=12))
    with pytest.raises(Refused, match="Name the release"):
        release(studies=[study], name=name, by=study.corpus.owner)
    assert not Release.objects.exists()


def test_only_a_researcher_of_the_study_or_an_admin_releases_it() -> None:
    study = making.study(making.corpus(images=12))
    reviewer = making.user()
    Membership.objects.create(study=study, user=reviewer, role=Role.REVIEWER)
    with pytest.raises(NotAllowed):
        release(studies=[study], name="one", by=reviewer)
    assert release(studies=[study], name="one", by=making.user(is_staff=True)).version == "1.0"


def test_the_release_command_says_why_it_refuses() -> None:
    study = making.study(making.corpus(images=12))
    stranger = making.user()
    with pytest.raises(CommandError, match="Only a researcher of a study"):
        call_command("release", "one", study.slug, "--by", stranger.email)
    with pytest.raises(CommandError, match="Name the release"):
        call_command("release", "../x", study.slug, "--by", study.corpus.owner.email)


def test_a_name_stays_with_the_studies_that_were_released_under_it() -> None:
    first, second = making.study(making.corpus()), making.study(making.corpus())
    release(studies=[first], name="pairs", by=first.corpus.owner)
    with pytest.raises(Refused, match="belongs to a release of other studies"):
        release(studies=[second], name="pairs", by=second.corpus.owner)


def test_the_manifest_explains_every_column_and_names_the_software() -> None:
    study = making.study(making.corpus())
    made = release(studies=[study], name="pairs", by=study.corpus.owner)
    assert re.fullmatch(r"annotation-app \d+\.\d+\.\d+", made.manifest["software"])
    assert set(made.manifest["writers"]) == {"python", "numpy", "orjson", "pyarrow"}
    for name, explained in made.manifest["columns"].items():
        header = text_of(made, f"{name}.csv").splitlines()[0].split(",")
        assert list(explained) == header
        unexplained = {column for column, meaning in explained.items() if not meaning}
        assert unexplained <= {*protocol("matching").columns}


def test_positives_of_a_study_without_machines_are_those_of_what_people_were_asked_about() -> None:
    corpus = making.corpus(images=3, captions_each=1)
    settings = {"own_pairs": True, "candidates_a_page": 3, "justification": False}
    study = create_study(
        slug="own-pairs",
        name="Own pairs",
        corpus=corpus,
        protocol_slug="matching",
        by=corpus.owner,
        settings=settings,
    )
    open_study(study=study)
    account = making.rater(study)
    page = draw(study=study, account=account)
    fields = making.answers(3, "yes") | {"q1-choice": ["no"]}
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    made = release(studies=[study], name="pairs", by=corpus.owner)
    for name in ("eccv_image_to_caption.json", "eccv_caption_to_image.json"):
        found = json.loads(path_of(made.files.get(name=name)).read_text())
        assert len(found) == 2
        assert all(len(positives) == 1 for positives in found.values())

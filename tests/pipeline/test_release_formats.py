"""What the files of a release hold, and that the usual tools read them as they are."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import datasets
import mlcroissant
import pandas
import pytest
import yaml
from absl.logging import get_absl_handler
from django.db import connection
from pyarrow import parquet

from hits.exporters import formats
from hits.exporters.scrubbing import scrubbed
from hits.models import Release, Slot, Study
from hits.pipeline import manifest as manifests
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.pseudonyms import pseudonym
from hits.pipeline.rejudge import overlap
from hits.pipeline.release import Wish, release
from hits.pipeline.shelf import path_of
from hits.pipeline.submit import submit
from hits.pipeline.versions import change_version
from tests import making

pytestmark = pytest.mark.django_db(transaction=True)

# It comes with mlcroissant, and closes the stream it has, the one that pytest captures, whenever
# logging is set up anew.
get_absl_handler().python_handler.stream = sys.__stderr__

REMARK = "=1+1 write to me@example.org"
PROBLEM = "-2 call +44 20 7946 0958"


def judged_study() -> Study:
    """With two people, of whom one left a remark and reported a problem."""
    study = making.study(
        making.corpus(images=12),
        settings={"justification": True, "candidates_a_page": 4},
        judgments_wanted=2,
        pay="0.50",
    )
    for words in (False, True):
        account = making.rater(study)
        page = draw(study=study, account=account)
        fields = making.truthful(page)
        if words:
            first, second = page.slots.filter(unit__gold__isnull=True).order_by("position")[:2]
            said = {"choice": "mostly_no", "reasons": "wrong", "errors": "other", "other": REMARK}
            fields |= {f"q{first.position}-{name}": [value] for name, value in said.items()}
            fields[f"q{second.position}-problem"] = [PROBLEM]
            fields[f"q{second.position}-seconds"] = ["4.5"]
        submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    return study


def folder_of(made: Release) -> Path:
    return path_of(made.files.get(name="manifest.json")).parent


def test_pandas_arrow_datasets_and_croissant_read_a_release_as_it_is(tmp_path: Path) -> None:
    study = judged_study()
    made = release(studies=[study], name="formats", by=study.corpus.owner)
    folder = folder_of(made)
    _assert_types(folder)
    _assert_same_rows_in_every_format(folder)
    _assert_what_is_said(study, folder)
    loaded = datasets.load_dataset(str(folder), "units", cache_dir=str(tmp_path))["train"]
    assert loaded.num_rows == len(pandas.read_csv(folder / "units.csv"))
    assert loaded[0]["distribution"][0].keys() == {"answer", "count"}
    lines = datasets.load_dataset(
        "json", data_files=str(folder / "judgments.jsonl"), cache_dir=str(tmp_path)
    )
    assert lines["train"].num_rows == Slot.objects.filter(judgment__isnull=False).count()
    _assert_croissant_is_valid(made, folder)


def _assert_types(folder: Path) -> None:
    frame = pandas.read_parquet(folder / "judgments.parquet")
    assert str(frame.dtypes["submitted_at"]) == "datetime64[ms, UTC]"
    assert str(frame.dtypes["position"]) == "int64"
    assert str(frame.dtypes["seconds"]) == "float64"
    schema = parquet.read_schema(folder / "units.parquet")
    assert str(schema.field("positive").type) == "bool"
    assert str(schema.field("image_ids").type).startswith("list<")
    assert schema.field("label").metadata[b"description"] == b"what the people said together"


def _assert_same_rows_in_every_format(folder: Path) -> None:
    for table in ("judgments", "units"):
        rows = parquet.read_table(folder / f"{table}.parquet").to_pylist()
        lines = [json.loads(line) for line in (folder / f"{table}.jsonl").read_text().splitlines()]
        flat = pandas.read_csv(folder / f"{table}.csv", keep_default_na=False)
        assert len(rows) == len(lines) == len(flat) > 0
        assert list(flat.columns) == list(lines[0]) == list(rows[0])
        for row, line in zip(rows, lines, strict=True):
            when = row.pop("submitted_at", None)
            assert line.pop("submitted_at", None) == (when and when.isoformat())
            assert row == line
        joined = [" ".join(row["image_ids"]) for row in rows]
        assert [str(cell) for cell in flat["image_ids"]] == joined


def _assert_what_is_said(study: Study, folder: Path) -> None:
    judgments = pandas.read_parquet(folder / "judgments.parquet")
    people = set(study.assignments.values_list("person", flat=True))
    assert set(judgments["person"]) == {pseudonym(person) for person in people}
    assert not {str(person) for person in people} & set(judgments["person"])
    assert REMARK in set(judgments["other"])
    assert f"'{REMARK}" in (folder / "judgments.csv").read_text()
    units = pandas.read_parquet(folder / "units.parquet")
    for _, unit in units.iterrows():
        counted = {each["answer"]: each["count"] for each in unit["distribution"]}
        own = judgments[
            (judgments["unit"] == unit["unit"])
            & (judgments["place"] == "counted")
            & (judgments["use"] == "used")
        ]
        given = own["choice"].value_counts().to_dict()
        assert {answer: count for answer, count in counted.items() if count} == given
        assert sum(counted.values()) == unit["judgments"]


def _assert_croissant_is_valid(made: Release, folder: Path) -> None:
    described = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    issues = described.metadata.issues
    assert not issues.errors
    assert not issues.warnings
    (first, *_) = described.records(record_set="units")
    assert first["units/study"].decode() == made.studies.get().slug
    data = {file.name for file in made.files.all()} - {"croissant.json", "manifest.json"}
    assert {each.id for each in described.metadata.distribution} == data


def test_the_card_states_people_pay_dates_agreement_and_changes() -> None:
    study = judged_study()
    with connection.cursor() as cursor:
        cursor.execute("SET hits.erasing = 'on'")
        cursor.execute("UPDATE hits_judgment SET seconds = 10")
        cursor.execute("RESET hits.erasing")
    study.name = "Cups <script>alert(1)</script> *and* [spoons](https://x.example)"
    study.save(update_fields=["name"])
    wish = Wish(licence='CC BY 4.0,\n---\nbut "as it is"')
    made = release(studies=[study], name="card", by=study.corpus.owner, wish=wish)
    text = (folder_of(made) / "README.md").read_text()
    (stated,) = made.manifest["studies"]
    # Four candidates and two golds, ten seconds each, for 0.50: thirty an hour.
    assert stated["median_hourly_pay"] == 30.0
    assert stated["agreement"]["units_with_two_answers"] == stated["units_complete"]
    for part in (
        "| people | 2 |",
        "| median pay an hour | $30.00 |",
        "Licence: CC BY 4.0, --- but",
        r"Cups \<script\>alert(1)\</script\> \*and\* \[spoons\](https://x.example), protocol",
    ):
        assert part in text
    assert f"| dates | {stated['first_day']} to {stated['last_day']} |" in text
    assert "- The first version." in text
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["license_name"] == 'CC BY 4.0, --- but "as it is"'
    assert "| `reasons` | part of the answer; several values have ; between |" in text


def test_more_of_the_same_is_a_minor_version_and_anything_else_a_major_one() -> None:
    study = judged_study()
    owner = study.corpus.owner

    def made(**said: Any) -> str:
        return release(studies=[study], name="v", by=owner, wish=Wish(**said)).version

    assert made() == "1.0"
    assert made() == "1.0"
    making.work(study, making.rater(study))
    check_submitted()
    assert made() == "1.1"
    changes = Release.objects.get(minor=1).manifest["changes"]
    assert changes[0] == "Since version 1.0:"
    assert any("people 2 → 3" in change for change in changes)
    assert made(licence="CC0") == "2.0"
    change_version(study=study, by=owner, settings={"candidates_a_page": 5})
    assert made(step="minor") == "2.1"
    change_version(study=study, by=owner, settings={"candidates_a_page": 6})
    assert made() == "3.0"
    making.work(study, making.rater(study))
    assert made(step="major") == "4.0"


def test_a_version_says_what_is_other_in_it_even_where_nothing_was_judged_since() -> None:
    study = judged_study()
    owner = study.corpus.owner
    first = release(studies=[study], name="v", by=owner).manifest
    complete = first["studies"][0]["units_complete"]
    everything = study.units.count()
    overlap(study=study, units=everything, judgments=9, seed=0, reason="So.", by=owner)
    second = release(studies=[study], name="v", by=owner).manifest
    assert second["changes"] == [
        "Since version 1.0:",
        f"Study {study.slug}: units complete {complete} → 0.",
    ]
    units = {"sha256": "0", "size": 1}
    other = second | {"files": second["files"] | {"units.csv": units, "README.md": units}}
    assert manifests.changes(second, other)[1:] == [
        "The counts are the same; other rows stand in units.csv."
    ]
    assert manifests.changes(second, second)[1:] == [
        "The data are the same; the manifest states something else of them."
    ]


@pytest.mark.parametrize(
    ("free_text", "remark", "problem"),
    [
        ("left_out", "", ""),
        ("scrubbed", "=1+1 write to [removed]", "-2 call [removed]"),
    ],
)
def test_remarks_can_be_left_out_or_scrubbed(free_text: str, remark: str, problem: str) -> None:
    study = judged_study()
    wish = Wish(free_text=free_text)
    made = release(studies=[study], name="quiet", by=study.corpus.owner, wish=wish)
    frame = pandas.read_parquet(folder_of(made) / "judgments.parquet")
    assert set(frame["other"]) == {"", remark}
    assert set(frame["problem"]) == {"", problem}
    for path in folder_of(made).iterdir():
        assert b"me@example.org" not in path.read_bytes()
        assert b"7946" not in path.read_bytes()
    making.work(study, making.rater(study))
    check_submitted()
    following = release(studies=[study], name="quiet", by=study.corpus.owner)
    assert (following.version, following.free_text) == ("1.1", free_text)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("ask ann.b@x.co.uk now", "ask [removed] now"),
        ("see https://x.org/me?a=1 or www.me.net", "see [removed] or [removed]"),
        ("I am A2XJ9GNQ4T1B7C.", "I am [removed]."),
        ("tel. (030) 123-4567", "tel. ([removed]"),
        ("two dogs, 3 cats and 12 birds", "two dogs, 3 cats and 12 birds"),
        ("write @anna_b", "write [removed]"),
    ],
)
def test_scrubbing_removes_what_says_who_somebody_is(said: str, left: str) -> None:
    assert scrubbed(said) == left


def test_row_groups_do_not_depend_on_how_rows_came_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "ROWS_A_GROUP", 10)
    columns = [formats.Typed("n", formats.Kind.WHOLE), formats.Typed("t", formats.Kind.TEXT)]
    rows = [(number, f"text {number % 7}") for number in range(25)]
    found = []
    for size in (25, 4, 1):
        folder = tmp_path / str(size)
        folder.mkdir()
        with formats.TableFiles(folder, "x", columns) as files:
            for start in range(0, 25, size):
                files.write(list(zip(*rows[start : start + size], strict=True)))
            found.append(files.finish())
        assert parquet.ParquetFile(folder / "x.parquet").num_row_groups == 3
    assert found[0] == found[1] == found[2]


WRITING = """
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from hits.exporters.formats import Kind, TableFiles, Typed
columns = [Typed("n", Kind.WHOLE), Typed("at", Kind.TIME), Typed("counts", Kind.COUNTS)]
with TableFiles(Path(sys.argv[1]), "x", columns) as files:
    files.write([[1, 2], ["2026-01-01T00:00:00+00:00", None], [[("yes", 2)], []]])
    files.finish()
print("pandas" in sys.modules)
"""


def test_pandas_and_its_memory_stay_out_of_who_writes_tables(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", WRITING, tmp_path], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "False"
    assert parquet.read_table(tmp_path / "x.parquet").to_pylist() == [
        {
            "n": 1,
            "at": datetime(2026, 1, 1, tzinfo=UTC),
            "counts": [{"answer": "yes", "count": 2}],
        },
        {"n": 2, "at": None, "counts": []},
    ]

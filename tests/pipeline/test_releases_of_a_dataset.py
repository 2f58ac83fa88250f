"""Studies of different protocols that are parts of one public dataset, in one release."""

import csv
import json
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pyarrow import parquet

from hits.exporters.formats import Kind
from hits.exporters.streams import JsonLists, in_one_file
from hits.models import Corpus, Image, Job, Release, Study
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.errors import Refused
from hits.pipeline.release import release
from hits.pipeline.remove import Thing, remove
from hits.pipeline.shelf import path_of
from hits.pipeline.submit import submit
from hits.protocol import Protocol, registry, released_together
from tests import making
from tests.protocols.cases.similarity import study_of
from tests.protocols.cases.surveys import (
    study_of_detectors,
    study_of_prominence,
    study_of_relevance,
)

SURVEYS = (study_of_prominence, study_of_relevance, study_of_detectors)
RATED = dict(zip("ABCDE", "32231", strict=True))
ANSWERS = {
    "prominence": RATED,
    "relevance": RATED | {"caption": "A picture of squares."},
    "detectors": {"choice": "left"},
}
SCORE = {"set": "1", "score": "2.5", "moved": "key"}

in_a_transaction = pytest.mark.django_db(transaction=True)


def answer(study: Study, said: dict[str, str]) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    positions = page.slots.values_list("position", flat=True)
    fields = {f"q{place}-{name}": [own] for place in positions for name, own in said.items()}
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()


@pytest.fixture
def surveys() -> list[Study]:
    corpus = making.corpus(images=4)
    studies = [of(corpus, units_a_page=3, golds_a_page=0) for of in SURVEYS]
    for study in studies:
        answer(study, ANSWERS[study.protocol])
    return studies


def read(made: Release, name: str) -> Any:
    return json.loads(path_of(made.files.get(name=name)).read_text())


def rows(made: Release, table: str) -> list[dict[str, Any]]:
    found = parquet.read_table(path_of(made.files.get(name=f"{table}.parquet"))).to_pylist()
    return list(found)


@in_a_transaction
def test_the_three_surveys_come_out_as_one_file_with_its_keys(surveys: list[Study]) -> None:
    owner = surveys[0].corpus.owner
    made = release(studies=surveys, name="surveys", by=owner)
    responses, keys = read(made, "AMT_responses.json"), read(made, "AMT_keys.json")
    assert list(responses) == list(keys) == ["Caption", "Comparison", "Prominence"]
    for part in ("Caption", "Prominence"):
        assert {each["description"] for each in responses[part]} == {"32231"}
        assert [each.keys() for each in keys[part]] == [{"image_id", *"ABCDE"}] * 3
    assert {each["description"] for each in responses["Comparison"]} == {"1"}
    assert {each["1"] for each in keys["Comparison"]} <= {"fcos", "fovea"}
    alone = [release(studies=[each], name=each.slug, by=owner) for each in surveys]
    assert responses == {
        part: answers for one in alone for part, answers in read(one, "AMT_responses.json").items()
    }


@in_a_transaction
def test_a_release_of_several_protocols_counts_each_study_and_leaves_empty_what_was_not_asked(
    surveys: list[Study],
) -> None:
    made = release(studies=surveys, name="surveys", by=surveys[0].corpus.owner)
    judged, units = rows(made, "judgments"), rows(made, "units")
    stated = {each["study"]: each for each in made.manifest["studies"]}
    assert list(stated) == [study.slug for study in surveys]
    for study in surveys:
        own = [row for row in judged if row["study"] == study.slug]
        assert len(own) == 3
        assert stated[study.slug]["units_judged"] == 3
        assert stated[study.slug]["judgments"] == {"used": 3}
        assert sum(unit["study"] == study.slug for unit in units) == 3
        asked = {*registry()[study.protocol].columns}
        for name in ("ratings", "caption", "chosen"):
            assert all(bool(row[name]) == (name in asked) for row in own)
    assert len(judged) == len(units) == 9


@in_a_transaction
def test_what_is_removed_in_one_study_is_gone_from_all_and_accounted_for(
    surveys: list[Study],
) -> None:
    prominence, relevance, _ = surveys
    unit = prominence.units.filter(counted=1).earliest("pk")
    owner = prominence.corpus.owner
    remove(study=prominence, things=[Thing(unit.payload["image"])], reason="Blurred", by=owner)
    made = release(studies=[prominence, relevance], name="surveys", by=owner)
    first, second = made.manifest["studies"]
    units = rows(made, "units")
    assert len(units) == first["units_judged"] + second["units_judged"] == 4
    assert first["judgments"] == {"removed": 1, "used": 2}
    assert second["judgments"] == {"removed from another study of this release": 1, "used": 2}
    told = second["judgments_accounted_for"]
    assert told["submitted"] == told["used"] + sum(told["not_used"].values()) == 3


def similarities(corpus: Corpus, split: str) -> list[Study]:
    """One of each, of two images of a split."""
    images = list(corpus.images.filter(split=split).order_by("pk").values_list("pk", flat=True))
    texts = list(corpus.captions.filter(image__in=images).values_list("pk", flat=True))
    ends = {
        "sts": {"caption1": texts[0], "caption2": texts[-1]},
        "sis": {"image1": images[0], "image2": images[1]},
        "sits": {"caption": texts[0], "image": images[1]},
    }
    settings = {"units_a_page": 1, "golds_a_page": 0}
    return [
        study_of(slug, corpus, [row], settings=settings, judgments_wanted=1)
        for slug, row in ends.items()
    ]


@in_a_transaction
@pytest.mark.parametrize("splits", [("val", "test"), ("a/b", "a-b")])
def test_the_three_similarities_of_two_splits_come_out_as_six_tables_and_their_twins(
    splits: tuple[str, str],
) -> None:
    corpus = making.corpus(images=4)
    first_two = corpus.images.order_by("pk")[:2].values_list("pk", flat=True)
    Image.objects.filter(corpus=corpus).update(split=splits[1])
    Image.objects.filter(pk__in=list(first_two)).update(split=splits[0])
    studies = [*similarities(corpus, splits[0]), *similarities(corpus, splits[1])]
    for study in studies:
        answer(study, SCORE)
    made = release(studies=studies, name="crossed", by=corpus.owner)
    tables = {
        f"{slug}_{split.replace('/', '=2F')}{raw}.csv"
        for slug in ("sts", "sis", "sits")
        for split in splits
        for raw in ("", "_raw")
    }
    found = set(made.files.filter(name__endswith=".csv").values_list("name", flat=True))
    assert found == tables | {"judgments.csv", "units.csv"}
    for name in tables:
        lines = path_of(made.files.get(name=name)).read_text().splitlines()
        assert [
            line["agg_score" if "agg_score" in line else "score"] for line in csv.DictReader(lines)
        ] == ["2.5"]


@in_a_transaction
def test_page_api_and_command_make_a_release_of_a_dataset_and_refuse_what_is_none(
    surveys: list[Study],
) -> None:
    first, second, third = surveys
    owner = first.corpus.owner
    foreign = making.study(first.corpus)
    desk = Client()
    desk.force_login(owner)
    page = f"/research/studies/{first.slug}/releases/"
    text = desk.get(page).text
    assert "A contract (Comparison of detectors)" in text
    assert foreign.name not in text.partition("Together with")[2].partition("</fieldset>")[0]
    both = {"name": "surveys", "also": [second.pk, third.pk]}
    assert desk.post(page, both).status_code == 302
    asked = Job.objects.get(kind="release").arguments["studies"]
    assert set(asked) == {each.pk for each in surveys}
    others = {"name": "other", "also": [foreign.pk]}
    assert desk.post(page, others).status_code == 422
    address = f"/api/studies/{first.slug}/releases/"
    named = {"name": "other", "with_studies": [foreign.slug]}
    refused = desk.post(address, named, content_type="application/json")
    assert "no common dataset" in refused.json()["message"]
    call_command("release", "surveys", first.slug, third.slug, "--by", owner.email)
    assert Release.objects.get().studies.count() == 2
    with pytest.raises(CommandError, match="no common dataset"):
        call_command("release", "other", first.slug, foreign.slug, "--by", owner.email)


@in_a_transaction
def test_a_draft_is_not_released() -> None:
    study = making.study(making.corpus(images=12))
    Study.objects.filter(pk=study.pk).update(state="draft")
    study.refresh_from_db()
    with pytest.raises(Refused, match="A draft has nothing to release"):
        release(studies=[study], name="one", by=study.corpus.owner)


def datasets() -> Iterable[tuple[Protocol[Any, Any], Protocol[Any, Any]]]:
    for one, other in combinations(registry().values(), 2):
        if other.slug in released_together(one.slug):
            yield one, other


@pytest.mark.parametrize(("one", "other"), [*datasets()], ids=lambda kind: kind.slug)
def test_protocols_of_a_dataset_give_a_column_of_one_name_the_same_kind(
    one: Protocol[Any, Any], other: Protocol[Any, Any]
) -> None:
    for name in set(one.columns) & set(other.columns):
        kinds = [kind.column_kinds.get(name, Kind.TEXT) for kind in (one, other)]
        assert kinds[0] == kinds[1]


def test_only_objects_of_lists_share_a_file() -> None:
    both = in_one_file(JsonLists({"B": [2]}), JsonLists({"A": []}))
    assert json.loads("".join(both)) == {"A": [], "B": [2]}
    with pytest.raises(TypeError):
        in_one_file(["{}"], both)

"""Lists cost the same for few and many rows, page by cursor, and filter by what is named."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from hits.models import (
    Caption,
    Corpus,
    Exclusion,
    Image,
    Intent,
    Invitation,
    Judgment,
    Membership,
    Proposal,
    Release,
    Role,
    User,
)
from hits.pipeline import jobs
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.open import create_study, open_study
from hits.pipeline.people import account_of, give_consent
from hits.pipeline.review import decide
from hits.pipeline.submit import submit
from hits.pipeline.versions import change_version
from tests import making
from tests.api import world as worlds
from tests.api.world import World

pytestmark = pytest.mark.django_db


def _lists(world: World) -> list[tuple[str, str]]:
    study, corpus = f"/api/studies/{world.study.slug}", f"/api/corpora/{world.corpus.slug}"
    return [
        ("researcher", "/api/me/"),
        ("researcher", "/api/corpora/"),
        ("researcher", f"{corpus}/images/"),
        ("researcher", f"{corpus}/captions/"),
        ("researcher", f"{corpus}/proposals/"),
        ("researcher", "/api/machines/"),
        ("researcher", "/api/studies/"),
        ("researcher", f"{study}/"),
        ("researcher", f"{study}/versions/"),
        ("researcher", f"{study}/proposals/"),
        ("researcher", f"{study}/exclusions/"),
        ("researcher", f"{study}/members/"),
        ("researcher", f"{study}/invitations/"),
        ("reviewer", f"{study}/review/"),
        ("reviewer", f"/api/reviews/{world.failed_page.key}/"),
        ("researcher", f"{study}/decisions/"),
        ("researcher", f"{study}/judgments/"),
        ("researcher", f"{study}/releases/"),
        ("researcher", f"{study}/channels/"),
        ("researcher", f"{study}/publications/"),
        ("researcher", f"/api/publications/{world.publication.pk}/"),
        ("researcher", f"/api/publications/{world.publication.pk}/claims/"),
        ("researcher", f"/api/publications/{world.publication.pk}/ledger/"),
        ("researcher", "/api/jobs/"),
        ("rater", "/api/work/"),
        ("rater", "/api/assignments/"),
    ]


def _counts(world: World) -> dict[str, int]:
    found = {}
    for name, address in _lists(world):
        client = world.api_client(name)
        with CaptureQueriesContext(connection) as queries:
            response = client.get(address, {"page_size": 200} if _is_paged(address) else {})
        assert response.status_code == 200, (address, response.content)
        found[address] = len(queries)
    return found


def _is_paged(address: str) -> bool:
    return not address.endswith("/channels/") and "reviews" not in address


def _grow(world: World) -> None:
    owner, study, corpus = world.corpus.owner, world.study, world.corpus
    rater = world.people["rater"]
    assert rater is not None
    for number in range(5):
        Corpus.objects.create(slug=f"grown-{number}", name="Grown", owner=owner)
        image = Image.objects.create(corpus=corpus, external_id=f"grown-{number}")
        Caption.objects.create(corpus=corpus, image=image, external_id=f"grown-{number}", text="x")
        Invitation.objects.create(study=study, created_by=making.user())
        Membership.objects.create(study=study, user=making.user(), role=Role.RATER)
        change_version(study=study, by=making.user(), lease_minutes=10 + number)
        jobs.ask(kind="open", arguments={}, by=making.user(), study=study)
        Release.objects.create(
            name="grown", major=1 + number, last_decision_id=0, manifest={}, made_by=making.user()
        ).studies.add(study)
        _another_study(world, number, rater)
        making.publication(study)
        claim = making.claim(world.publication)
        Intent.objects.create(
            token=f"grown-{number}",
            channel="local",
            action="approve",
            request={},
            publication=world.publication,
            claim=claim,
            by=making.user(),
        )
    _more_pages(world)
    study.proposals.set(Proposal.objects.filter(corpus=corpus))
    check_submitted()


def _another_study(world: World, number: int, rater: User) -> None:
    another = create_study(
        slug=f"grown-{number}",
        name="Grown",
        corpus=world.corpus,
        protocol_slug="matching",
        by=world.corpus.owner,
    )
    Exclusion.objects.create(study=world.study, other=another)
    another.proposals.set(making.proposals(world.corpus, machines=1, name=f"grown-{number}"))
    Membership.objects.create(study=another, user=rater, role=Role.RATER)
    worlds.end_of_transaction()
    open_study(study=another)
    give_consent(study=another, account=account_of(rater))


def _more_pages(world: World) -> None:
    for choice in ["yes", "no"]:
        account = making.rater(world.study)
        page = draw(study=world.study, account=account)
        fields = making.answers(page.slots.count(), choice)
        submit(assignment_key=page.key, account=account, fields=fields)


def test_a_list_takes_as_many_statements_for_many_rows_as_for_few(world: World) -> None:
    # What a connection prepares at its first use is not counted.
    _counts(world)
    before = _counts(world)
    _grow(world)
    grown = _counts(world)
    assert {address: grown[address] - before[address] for address in before} == dict.fromkeys(
        before, 0
    )


def test_pages_by_cursor_give_every_row_once(world: World) -> None:
    client = world.api_client("researcher")
    found: list[str] = []
    address: str | None = f"/api/studies/{world.study.slug}/judgments/?page_size=5"
    while address:
        page = client.get(address).json()
        found += [f"{row['page']} {row['position']}" for row in page["results"]]
        address = page["next"]
    judgments = Judgment.objects.filter(slot__assignment__study=world.study).count()
    assert len(found) == len(set(found)) == judgments > 10


@pytest.mark.parametrize("cursor", ["x", "cD1hYmM=", "cD0lMDA=", "bz0tMQ=="])
def test_a_cursor_that_makes_no_sense_is_refused(world: World, cursor: str) -> None:
    response = world.api_client("researcher").get("/api/jobs/", {"cursor": cursor})
    assert response.status_code in {200, 404}
    if response.status_code == 404:
        assert response.json()["error"] == "not_found"


def test_a_filter_by_a_named_column_works(world: World) -> None:
    client = world.api_client("researcher")
    found = client.get("/api/studies/", {"state": "draft"}).json()["results"]
    assert [study["slug"] for study in found] == [world.draft.slug]


@pytest.mark.parametrize("name", ["corpus__owner__password__startswith", "owner", "id__gt"])
def test_a_filter_that_is_not_named_is_refused(world: World, name: str) -> None:
    response = world.api_client("researcher").get("/api/studies/", {name: "x"})
    assert response.status_code == 400
    assert response.json()["errors"] == {name: ["There is no such filter."]}


def test_the_list_of_own_pages_tells_why_they_are_paid_or_not() -> None:
    study = making.study(making.corpus(images=12), settings={"candidates_a_page": 4})
    account = making.rater(study)
    page = making.work(study, account)
    reason = "Careful work."
    decide(assignment=page, by=making.user(), use="used", payment="approved", reason=reason)
    assert account.user is not None
    client = APIClient()
    client.force_authenticate(account.user)
    (told,) = client.get("/api/assignments/").json()["results"]
    assert (told["payment"], told["payment_reason"]) == ("approved", reason)
    assert told["payment_decided_at"]
    assert "use" not in told

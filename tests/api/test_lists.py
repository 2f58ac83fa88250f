"""Lists page by cursor, and filter by what is named."""

import pytest
from rest_framework.test import APIClient

from hits.models import Judgment
from hits.pipeline.review import decide
from tests import making
from tests.api.world import World

pytestmark = pytest.mark.django_db


def test_pages_by_cursor_give_every_row_once(world: World) -> None:
    client = world.api_client("researcher")
    found: list[str] = []
    address: str | None = f"/api/studies/{world.study.slug}/judgments/?page_size=5"
    while address:
        page = client.get(address).json()
        found += [f"{row['page']} {row['position']} {row['unit']}" for row in page["results"]]
        address = page["next"]
    judgments = Judgment.objects.filter(slot__assignment__study=world.study)
    units = judgments.values_list("slot__unit__key", flat=True)
    assert len(found) == len(set(found)) == len(units) > 10
    assert sorted(each.split(" ", 2)[2] for each in found) == sorted(units)


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

"""What a person reads when a request is refused before a view can answer it."""

import pytest
from django.conf import LazySettings
from django.test import Client

from hits.models import Study, User
from tests import making

pytestmark = pytest.mark.django_db

PASSWORD = "a good password"


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12))


@pytest.fixture
def researcher(study: Study) -> User:
    return study.corpus.owner


@pytest.fixture
def desk(researcher: User) -> Client:
    client = Client()
    client.force_login(researcher)
    return client


def test_who_is_logged_out_comes_back_to_the_page_whose_form_was_sent(
    study: Study, researcher: User
) -> None:
    client = Client()
    page = f"/research/studies/{study.slug}/"
    came_from = {"Referer": f"http://testserver{page}?part=1"}
    sent = client.post(f"{page}state/", {"state": "paused"}, headers=came_from)
    asked = client.get(sent.headers["Location"])
    assert "You were logged out" in asked.text
    back = client.post(
        sent.headers["Location"], {"username": researcher.username, "password": PASSWORD}
    )
    assert back.headers["Location"] == f"{page}?part=1"
    assert client.get(back.headers["Location"]).status_code == 200


@pytest.mark.parametrize("referer", ["", "http://elsewhere.example/x/", "http://[", "nonsense"])
def test_who_sent_a_form_from_nowhere_known_comes_back_home(study: Study, referer: str) -> None:
    address = f"/research/studies/{study.slug}/state/"
    sent = Client().post(address, {"state": "paused"}, headers={"Referer": referer})
    assert sent.headers["Location"] == "/login/?next=/"


def test_the_address_of_a_form_opened_as_a_page_says_so(study: Study, desk: Client) -> None:
    answer = desk.get(f"/research/studies/{study.slug}/state/")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert "Go back to that page" in answer.text


def test_a_workers_form_opened_as_a_page_says_so_without_a_way_out_of_the_frame() -> None:
    answer = Client().get("/hit/anything/submit")
    assert answer.status_code == 405
    assert "Go back to that page" in answer.text
    assert 'href="/"' not in answer.text


def test_a_form_from_before_another_log_in_is_refused_in_plain_words(study: Study) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(study.corpus.owner)
    answer = client.post(f"/research/studies/{study.slug}/state/", {"state": "paused"})
    assert answer.status_code == 403
    assert "You logged in again in another window" in answer.text
    assert "CSRF" not in answer.text


def test_a_form_that_is_too_large_is_refused_in_plain_words(
    study: Study, desk: Client, settings: LazySettings
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    answer = desk.post(
        f"/research/studies/{study.slug}/state/",
        f"state={'x' * 200}",
        content_type="application/x-www-form-urlencoded",
    )
    assert answer.status_code == 413
    assert "more than can be sent at once" in answer.text


@pytest.mark.parametrize("address", ["/join/%00/", "/research/releases/1/%00", "/?x=a%00b"])
def test_an_address_with_a_nul_is_refused(desk: Client, address: str) -> None:
    answer = desk.get(address)
    assert answer.status_code == 400
    assert "cannot be read" in answer.text
    assert "Content-Security-Policy" in answer.headers


def test_an_address_of_the_api_with_a_nul_is_refused_in_json(desk: Client) -> None:
    answer = desk.get("/api/releases/1/files/%00/")
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")


def test_a_name_that_is_too_long_logs_nobody_in(client: Client) -> None:
    sent = {"username": "x" * 300, "password": PASSWORD}
    answer = client.post("/api/token/", sent, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid")
    assert client.post("/login/", sent).status_code == 200


@pytest.mark.parametrize("name", ["New", "new"])
def test_nothing_takes_the_address_of_the_form_for_it(
    study: Study, desk: Client, researcher: User, name: str
) -> None:
    researcher.is_researcher = True
    researcher.save()
    corpus = {"name": name, "slug": "", "licence": ""}
    assert "cannot be a short name" in desk.post("/research/corpora/new/", corpus).text
    asked = {
        "slug": "new",
        "name": name,
        "corpus": study.corpus.slug,
        "procedure": "eccv-image-to-caption",
    }
    for address in ("/api/corpora/", "/api/studies/"):
        answer = desk.post(address, asked, content_type="application/json")
        assert (answer.status_code, answer.json()["error"]) == (400, "refused")
    form = desk.post("/research/studies/new/", asked | {"corpus": study.corpus.pk})
    assert "cannot be a short name" in form.text
    assert not Study.objects.filter(slug="new").exists()


@pytest.mark.parametrize(
    "lookup",
    [
        "user/?password__startswith=p",
        "user/?auth_token__key__startswith=a",
        "invitation/?token__startswith=a",
        "account/?user__password__startswith=p",
    ],
)
def test_the_admin_site_finds_no_secret_by_its_beginning(lookup: str) -> None:
    client = Client()
    client.force_login(making.user(is_staff=True))
    answer = client.get(f"/admin/hits/{lookup}")
    assert answer.status_code == 400

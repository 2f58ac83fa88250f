"""Training and limits as raters, workers and researchers meet them."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from hits.models import Account, Assignment, Claim, Participation, Study, User
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.reconcile import free_unconfirmed
from hits.pipeline.submit import submit
from tests import making
from tests.framed import Worker

pytestmark = pytest.mark.django_db

SMALL = {"candidates_a_page": 4, "justification": False}


@pytest.fixture
def study() -> Study:
    return making.study(
        making.corpus(images=15),
        settings=SMALL,
        pay="0.65",
        training_units=4,
        training_accuracy=75,
        training_attempts=2,
    )


@pytest.fixture
def account(study: Study) -> Account:
    return making.rater(study)


@pytest.fixture
def rater(account: Account) -> Client:
    assert account.user is not None
    return logged_in(account.user)


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def wrong(page: Assignment) -> dict[str, list[str]]:
    """Every gold answered the other way round."""
    other = {"yes": "no", "no": "yes"}
    return {name: [other[choice]] for name, (choice,) in making.truthful(page).items()}


def train(study: Study, account: Account, *, well: bool) -> Assignment:
    page = draw(study=study, account=account)
    fields = making.truthful(page) if well else wrong(page)
    submit(assignment_key=page.key, account=account, fields=fields)
    return page


def test_home_offers_the_training_first_and_says_what_it_is(rater: Client) -> None:
    said = text(rater.get("/"))
    assert "First comes a training page of 4 questions" in said
    assert "Start the training" in said


def test_who_qualified_is_told_so_and_goes_on(
    rater: Client, study: Study, account: Account
) -> None:
    page = train(study, account, well=True)
    said = text(rater.get(f"/work/{page.key}/done/"))
    assert "You qualified. 4 of 4 answers were right." in said
    assert "Your first page" in said


def test_who_did_not_is_told_what_was_right_and_may_try_again(
    rater: Client, study: Study, account: Account
) -> None:
    page = train(study, account, well=False)
    said = text(rater.get(f"/work/{page.key}/done/"))
    assert "0 of 4 answers were right; 3 have to be." in said
    assert "you have 1 more try" in said
    assert said.count("not what was expected") == 4
    assert "Try again" in said


def test_after_the_last_try_a_kind_word_and_no_button(
    rater: Client, study: Study, account: Account
) -> None:
    train(study, account, well=False)
    page = train(study, account, well=False)
    said = text(rater.get(f"/work/{page.key}/done/"))
    assert f"to them you are rater {account.person_id}" in said
    assert "Try again" not in said
    home = text(rater.get("/"))
    assert "nothing for you now" in home
    assert "Start" not in home
    refused = rater.post(f"/studies/{study.slug}/next/", follow=True)
    assert "Thank you for your time." in text(refused)


def test_own_work_has_the_training_with_its_pay_and_no_place_among_pages_done(
    rater: Client, study: Study, account: Account
) -> None:
    train(study, account, well=False)
    check_submitted()
    said = text(rater.get("/work/"))
    assert f"{study.name} training" in said
    assert "Approved $0.65" in said
    assert "Pages in all 0" in text(rater.get("/"))


def test_who_reached_the_day_s_limit_reads_when_to_go_on() -> None:
    study = making.study(making.corpus(images=15), settings=SMALL, most_units_a_day=4)
    account = making.rater(study)
    assert account.user is not None
    rater = logged_in(account.user)
    page = making.work(study, account)
    done = text(rater.get(f"/work/{page.key}/done/"))
    assert "You can go on from 00:00 UTC on" in done
    assert "Next page" not in done
    home = text(rater.get("/"))
    assert "You can go on from 00:00 UTC on" in home
    assert "Start a page" not in home


def test_a_page_that_is_open_at_the_limit_can_still_be_gone_on_with() -> None:
    study = making.study(making.corpus(images=15), settings=SMALL, most_units_a_person=4)
    account = making.rater(study)
    assert account.user is not None
    draw(study=study, account=account)
    assert "Go on with your page" in text(logged_in(account.user).get("/"))


def test_the_researcher_reads_who_qualified_and_lets_somebody_in(
    study: Study, account: Account
) -> None:
    owner = logged_in(study.corpus.owner)
    other = making.rater(study)
    train(study, other, well=True)
    for _ in range(2):
        train(study, account, well=False)
    address = f"/research/studies/{study.slug}/people/"
    said = text(owner.get(address))
    assert re.search(rf"Rater {account.person_id} 2 0 no tries left Let in", said)
    assert re.search(rf"Rater {other.person_id} 1 4 qualified", said)
    let_in = f"/research/studies/{study.slug}/training/{account.person_id}/let-in/"
    assert "can go on without more training" in text(owner.post(let_in, follow=True))
    assert not draw(study=study, account=account).is_training


def test_limits_and_training_are_changed_on_the_settings_page(study: Study) -> None:
    owner = logged_in(study.corpus.owner)
    address = f"/research/studies/{study.slug}/settings/"
    form = owner.get(address).context["form"]
    sent = {field.html_name: field.value() for field in form}
    changed = sent | {
        "most_units_a_person": "300",
        "most_units_a_day": "",
        "training_units": "5",
        "training_accuracy": "90",
        "training_attempts": "1",
    }
    kept = {
        name: value for name, value in changed.items() if value is not None and value is not False
    }
    assert "Version 2 holds" in text(owner.post(address, kept, follow=True))
    study.refresh_from_db()
    version = study.version
    assert version is not None
    assert (version.most_units_a_person, version.most_units_a_day) == (300, 0)
    assert (version.training_units, version.training_accuracy) == (5, 90)
    assert version.training_attempts == 1
    assert "Most units for one person, Questions on a training page" in text(owner.get(address))


class TestWorker:
    @pytest.fixture
    def worker(self, study: Study) -> Worker:
        return Worker(making.offered(study)).accept()

    def test_accepting_gives_a_training_page(self, worker: Worker) -> None:
        assert worker.page.is_training
        assert worker.open().content.decode().count('class="question"') == 4

    def test_what_was_right_stands_above_the_hand_over_which_waits_for_its_reader(
        self, worker: Worker
    ) -> None:
        worker.fetch("submit", **wrong(worker.page))
        response = worker.open()
        said = text(response)
        assert "0 of 4 answers were right" in said
        assert said.index("what was expected") < said.index("Hand your work over")
        assert "Accept another HIT of this study to try again." in said
        assert "data-at-once" not in response.content.decode()

    def test_nothing_is_told_before_the_page_is_submitted(
        self, worker: Worker, study: Study
    ) -> None:
        making.explain_golds(study, lambda unit: "planted-why")
        shown = worker.open().content.decode()
        assert "planted-why" not in shown
        assert "A yes (either yes)" not in shown

    def test_a_page_that_is_no_training_is_handed_over_at_once_and_tells_nothing(
        self, worker: Worker, study: Study
    ) -> None:
        worker.do()
        second = Worker(making.offered(study), ref="ASSIGNMENT2")
        second.open()
        assert not second.page.is_training
        second.do()
        shown = second.open().content.decode()
        assert "data-at-once" in shown
        assert "what was expected" not in shown

    def test_training_is_paid_once_the_marketplace_confirms_it(self, worker: Worker) -> None:
        worker.fetch("submit", **wrong(worker.page))
        check_submitted()
        assert worker.page.payment == "pending"
        Claim.objects.update(theirs="submitted", confirmed_at=timezone.now())
        check_submitted()
        assert (worker.page.use, worker.page.payment) == ("used", "approved")

    def test_training_that_was_never_handed_over_is_set_aside_for_compensation(
        self, worker: Worker
    ) -> None:
        worker.do()
        claim = worker.claim
        late = claim.opened_at.replace(year=claim.opened_at.year + 1)
        assert free_unconfirmed(claim.hit.publication, late) == 1
        assert worker.page.use == "not_used"
        person = claim.account.person
        assert Participation.objects.get(person=person).qualified_at is not None

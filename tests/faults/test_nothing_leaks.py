"""Secrets planted all over the database, looked for in everything a rater gets to see."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.test import Client
from django.utils import timezone

from hits.models import (
    Account,
    Assignment,
    Caption,
    Image,
    Machine,
    Membership,
    Role,
    Slot,
    Study,
    Unit,
    UnitSource,
)
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.people import give_consent
from hits.pipeline.review import decide
from hits.pipeline.submit import save_draft, submit
from tests import making

pytestmark = pytest.mark.django_db

GOLD, MACHINE, UNIT = "zq-gold-zq", "zq-machine-zq", "zq-unit-zq"
OTHERS, OUTSIDE, FILE = "zq-others-zq", "zq-outside-zq", "zq-file-zq"
REVIEW = "zq-review-zq"
SECRETS = [GOLD, MACHINE, UNIT, OTHERS, OUTSIDE, FILE, REVIEW]
# Every table counts from a number of its own that nothing else on a page looks like.
FIRST_IDS = {
    "hits_unit": 610_000_000_000,
    "hits_image": 620_000_000_000,
    "hits_caption": 630_000_000_000,
    "hits_slot": 640_000_000_000,
    "hits_assignment": 650_000_000_000,
    "hits_person": 660_000_000_000,
    "hits_machine": 670_000_000_000,
    "hits_proposal": 680_000_000_000,
    "hits_account": 690_000_000_000,
}
IDS = re.compile(r"6[1-9]0{6}\d{4}")
CAPTION = "Two foxes <b>& a cat</b> 🦊"


@pytest.fixture
def study() -> Study:
    with connection.cursor() as cursor:
        for table, first in FIRST_IDS.items():
            cursor.execute(f"ALTER SEQUENCE {table}_id_seq RESTART WITH {first}")
    made = making.study(
        making.corpus(images=12), settings={"candidates_a_page": 4, "justification": True}
    )
    Machine.objects.update(name=Concat(Value(MACHINE), F("name")))
    Image.objects.update(
        external_id=Concat(Value(OUTSIDE), F("external_id")), file_name=Concat(Value(FILE), F("id"))
    )
    Caption.objects.update(external_id=Concat(Value(OUTSIDE), F("external_id")), text=CAPTION)
    Unit.objects.update(key=Concat(Value(UNIT), F("key")))
    for pk, gold in Unit.objects.filter(gold__isnull=False).values_list("pk", "gold"):
        Unit.objects.filter(pk=pk).update(gold={**(gold or {}), "answer": GOLD})
    return made


@pytest.fixture
def others(study: Study) -> None:
    """Somebody else answered, saved a draft and was decided on."""
    for number in range(3):
        account = making.rater(study, f"{OTHERS}{number}")
        page = draw(study=study, account=account)
        fields = making.answers(6, "no") | {"q1-problem": [f"{OTHERS} problem"]}
        save_draft(assignment_key=page.key, account=account, fields=fields, revision=0)
        if number:
            submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    page = Assignment.objects.filter(state="submitted")[0]
    by = study.corpus.owner
    decide(assignment=page, by=by, use="not_used", payment="approved", reason=REVIEW)


# Knows of every draft that was saved.
NEWEST = {"revision": ["1000"]}


class Visitor:
    """A rater whose every answer from the server is kept."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.user = making.user("visitor")
        Membership.objects.create(study=study, user=self.user, role=Role.RATER)
        self.client = Client()
        self.seen: dict[str, str] = {}

    def get(self, path: str) -> Any:
        return self._keep(f"GET {path}", self.client.get(path))

    def post(self, path: str, fields: Any = None, *, json: bool = False) -> Any:
        headers = {"Accept": "application/json"} if json else {}
        answer = self.client.post(path, fields or {}, headers=headers)
        return self._keep(f"POST {path} {'json' if json else 'html'}", answer)

    def _keep(self, request: str, answer: Any) -> Any:
        headers = "\n".join(f"{name}: {value}" for name, value in answer.items())
        cookies = self.client.cookies.output()
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        text = body.decode(errors="replace")
        self.seen[f"{len(self.seen)} {request} {answer.status_code}"] = (
            f"{headers}\n{cookies}\n{text}"
        )
        return answer

    def page(self) -> str:
        answer = self.post(f"/studies/{self.study.slug}/next/")
        assert answer.headers["Location"].startswith("/work/")
        return str(answer.headers["Location"])

    def account(self) -> Account:
        return Account.objects.get(user=self.user)


def visit_everything(visitor: Visitor) -> None:
    study = visitor.study.slug
    visitor.get("/login/")
    visitor.post("/login/", {"username": visitor.user.email, "password": "wrong"})
    visitor.post("/login/", {"username": visitor.user.email, "password": "a good password"})
    visitor.get("/")
    visitor.post(f"/studies/{study}/next/")
    visitor.get(f"/studies/{study}/consent/")
    visitor.post(f"/studies/{study}/consent/")
    page = visitor.page()
    work_through(visitor, page)
    check_submitted()
    visitor.get("/")
    visitor.get("/work/")
    visitor.get(f"/work/?before={page.split('/')[2]}")
    given_back = visitor.page()
    visitor.get(given_back)
    visitor.post(f"{given_back}return")
    visitor.post(f"{given_back}submit", making.answers(6) | NEWEST, json=True)
    visitor.post(f"{given_back}submit", making.answers(6) | NEWEST)
    visitor.get("/")
    too_late(visitor)
    what_is_not_theirs(visitor)
    visitor.get(f"/studies/{study}/withdraw/")
    visitor.post(f"/studies/{study}/withdraw/")
    visitor.get("/")


def work_through(visitor: Visitor, page: str) -> None:
    html = visitor.get(page).text
    visitor.get(f"{page}?first")
    for image in set(re.findall(r"/images/[0-9a-f]{64}", html)):
        visitor.get(image)
    visitor.post(f"{page}save", making.answers(3) | {"revision": ["0"], "view": ["all"]})
    visitor.post(f"{page}save", making.answers(3) | {"revision": ["0"]})
    visitor.post(f"{page}save", making.answers(3) | {"revision": ["x"]})
    visitor.get(page)
    visitor.post(f"{page}submit", making.answers(3) | NEWEST, json=True)
    visitor.post(f"{page}submit", making.answers(3) | NEWEST)
    visitor.post(f"{page}submit", making.answers(6, "partial_yes"))
    assert visitor.post(f"{page}submit", making.answers(6) | NEWEST, json=True).status_code == 200
    visitor.post(f"{page}submit", making.answers(6) | NEWEST)
    visitor.post(f"{page}save", making.answers(3) | {"revision": ["5"]})
    visitor.post(f"{page}return")
    visitor.get(f"{page}done/")
    visitor.get(page)


def too_late(visitor: Visitor) -> None:
    page = visitor.page()
    past = timezone.now() - timedelta(minutes=5)
    Assignment.objects.filter(key=page.split("/")[2]).update(lease_until=past, state="expired")
    Slot.objects.filter(assignment__key=page.split("/")[2]).update(state="freed")
    Unit.objects.update(held=0)
    visitor.get(page)
    visitor.post(f"{page}submit", making.answers(6) | NEWEST)


def what_is_not_theirs(visitor: Visitor) -> None:
    study = visitor.study.slug
    stranger = Assignment.objects.exclude(account=visitor.account())[0]
    for path in (f"/work/{stranger.key}/", f"/work/{stranger.key}/done/", f"/review/{study}/"):
        assert visitor.get(path).status_code == 404
    for action in ("save", "submit", "return"):
        fields = making.answers(6) | {"revision": ["9"]}
        assert visitor.post(f"/work/{stranger.key}/{action}", fields).status_code == 404
    visitor.get(f"/studies/{study}/")
    visitor.get("/research/")
    visitor.get("/admin/")
    visitor.get("/api/")
    visitor.get("/nowhere/")


@pytest.fixture
def visitor(study: Study, others: None) -> Visitor:
    visitor = Visitor(study)
    visit_everything(visitor)
    return visitor


def test_no_secret_is_in_anything_a_rater_sees(visitor: Visitor) -> None:
    found = {
        (request, secret)
        for request, text in visitor.seen.items()
        for secret in SECRETS
        if secret in text
    }
    assert found == set()


def test_no_id_of_the_database_is_in_anything_a_rater_sees(visitor: Visitor) -> None:
    found = {(request, tuple(IDS.findall(text))) for request, text in visitor.seen.items()}
    assert {(request, ids) for request, ids in found if ids} == set()


def test_the_planted_secrets_are_there_to_be_found(visitor: Visitor) -> None:
    page = Assignment.objects.filter(account=visitor.account(), state="submitted")
    assert page.exists()
    slot = Slot.objects.filter(assignment__in=page).select_related("unit")[0]
    assert IDS.search(f"{slot.pk} {slot.unit_id} {slot.assignment_id} {slot.person_id}")
    assert UNIT in slot.unit.key
    assert UnitSource.objects.filter(proposal__machine__name__contains=MACHINE).exists()
    assert Unit.objects.filter(gold__answer=GOLD, slots__assignment__in=page).exists()
    pages = [text for request, text in visitor.seen.items() if "/work/" in request]
    assert any("Two foxes &lt;b&gt;" in text for text in pages)
    assert any("✓ Submitted" in text for text in pages)


def test_a_gold_looks_like_any_other_question(study: Study) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    client = Client()
    assert account.user is not None
    client.force_login(account.user)
    html = client.get(f"/work/{page.key}/").text
    questions = re.findall(r'<section class="question".*?</section>', html, flags=re.DOTALL)
    assert len(questions) == 6
    plain = {
        re.sub(r"/images/[0-9a-f]{64}|\d+| loading=\"lazy\"", "", question)
        for question in questions
    }
    assert len(plain) == 1


def test_an_image_has_the_same_address_for_a_gold_as_for_any_other_unit(study: Study) -> None:
    """By its content: a file name would give the captions away, an id the gold."""
    account = making.rater(study)
    give_consent(study=study, account=account)
    page = draw(study=study, account=account)
    client = Client()
    assert account.user is not None
    client.force_login(account.user)
    html = client.get(f"/work/{page.key}/").text
    images = {
        Image.objects.get(pk=payload["image"]).blob_id
        for payload in Slot.objects.filter(assignment=page).values_list("unit__payload", flat=True)
    }
    assert set(re.findall(r'<img src="/images/([0-9a-f]{64})"', html)) == images

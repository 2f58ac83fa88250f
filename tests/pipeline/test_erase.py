"""Nothing is left of a person who was erased, and everything still adds up."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from axes.models import AccessLog
from django.conf import LazySettings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.test import Client
from rest_framework.authtoken.models import Token

from hits.models import (
    Account,
    Claim,
    Erasure,
    Intent,
    Job,
    Judgment,
    Person,
    Release,
    Study,
    Unit,
    User,
)
from hits.pipeline import shelf
from hits.pipeline.chain import choose_feeders
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.erase import erase, find, outlook
from hits.pipeline.errors import NotAllowed, Refused
from hits.pipeline.open import create_study, open_study
from hits.pipeline.people import exclude, link
from hits.pipeline.release import Wish, release
from hits.pipeline.review import decide
from hits.pipeline.submit import save_draft, submit
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile
from tests.dumping import dump
from tests.protocols.cases.refinement import study_of_renovation

pytestmark = pytest.mark.django_db(transaction=True)

EMAIL, NAME, WORKER = "planted-mail", "Planted-Name", "A1PLANTEDWORKER"
REF, REMARK, PROBLEM = "PLANTED-ASSIGNMENT", "planted-remark", "planted-problem"
DRAFT, REASON, WHY_OUT = "planted-draft", "planted-reason", "planted-exclusion"
PLANTED = [EMAIL, NAME, WORKER, REF, REMARK, PROBLEM, DRAFT, REASON, WHY_OUT]


def planted(study: Study) -> Account:
    """Somebody with a login and an id at a marketplace, all over the place."""
    account = making.rater(study, EMAIL)
    user = account.user
    assert user is not None
    User.objects.filter(pk=user.pk).update(first_name=NAME, last_name=NAME)
    Token.objects.create(user=user)
    AccessLog.objects.create(username=user.username, ip_address="127.0.0.1", user_agent=NAME)
    Client().force_login(user)
    _answer(study, account)
    publication = making.publication(study)
    worker = making.worker()
    Account.objects.filter(pk=worker.pk).update(external_id=WORKER)
    claim = making.claim(publication, "paid", account=worker)
    Claim.objects.filter(pk=claim.pk).update(ref=REF)
    making.settled(publication, "bonus", state="done")
    Intent.objects.update(
        claim=claim, request={"worker": WORKER}, answer={"failures": {WORKER: NAME}}
    )
    link(account=account, same_as=worker)
    Job.objects.create(
        kind="release",
        state="done",
        arguments={"of": f"{EMAIL}@example.org"},
        log=f"by {EMAIL}@example.org\n{WORKER}",
        result={"worker": WORKER},
    )
    return account


def _answer(study: Study, account: Account) -> None:
    page = draw(study=study, account=account)
    fields = making.truthful(page)
    first, second = page.slots.filter(unit__gold__isnull=True).order_by("position")[:2]
    said = {"choice": "mostly_no", "reasons": "wrong", "errors": "other", "other": REMARK}
    fields |= {f"q{first.position}-{name}": [value] for name, value in said.items()}
    fields[f"q{second.position}-problem"] = [PROBLEM]
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    decide(
        assignment=page,
        by=study.corpus.owner,
        use="not_used",
        payment="approved",
        reason=REASON,
    )
    decide(assignment=page, by=study.corpus.owner, use="used", payment="approved", reason=REASON)
    begun = draw(study=study, account=account)
    draft = {"q1-other": [DRAFT]}
    save_draft(assignment_key=begun.key, account=account, fields=draft, revision=0)
    exclude(study=study, account=account, reason=WHY_OUT)


def found_in(folder: Path) -> set[str]:
    """Which of the planted texts are in a dump of the database, or in the data folder."""
    texts = [dump()]
    texts += [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return {each for each in PLANTED if any(each.encode() in text for text in texts)}


def counts() -> dict[str, Any]:
    return {
        "judgments": Judgment.objects.count(),
        "people": Person.objects.count(),
        "counted": sum(Unit.objects.values_list("counted", flat=True)),
    }


def test_nothing_of_an_erased_person_is_left_and_counts_add_up(
    settings: LazySettings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    study = making.study(
        making.corpus(images=12), settings={"candidates_a_page": 4, "justification": True}
    )
    making.work(study, making.rater(study))
    account = planted(study)
    owner, admin = study.corpus.owner, making.user(is_staff=True)
    loud = release(studies=[study], name="loud", by=owner)
    quiet = release(studies=[study], name="quiet", by=owner, wish=Wish(free_text="left_out"))
    (tmp_path / "imports").mkdir()
    refused = tmp_path / "imports" / "refused.jsonl"
    refused.write_text(f'{{"worker": "{WORKER}"}}\n{{"worker": "another"}}\n')
    assert found_in(tmp_path) == set(PLANTED)
    before, open_now = counts(), Unit.objects.filter(held__gt=0).count()
    assert open_now

    person = find(channel="in_house", identity=f"{EMAIL}@EXAMPLE.org")
    assert person == find(channel="local", identity=WORKER)
    assert outlook(person)["releases"] == 1
    made = erase(person=person, by=admin)

    assert found_in(tmp_path) == set()
    assert refused.read_text() == '{"worker": "another"}\n'
    assert counts() == before
    assert_places_reconcile()
    assert made.counts == {
        "pages": 3, "judgments": 2, "accounts": 2, "releases_withdrawn": 1,
    }  # fmt: skip
    loud.refresh_from_db()
    quiet.refresh_from_db()
    assert loud.withdrawn_at
    assert not quiet.withdrawn_at
    account.refresh_from_db()
    assert account.user is not None
    assert not account.user.is_active
    after = release(studies=[study], name="loud", by=owner)
    assert after.version == "1.1"
    (stated,), (said_before,) = after.manifest["studies"], loud.manifest["studies"]
    assert stated["judgments"] == said_before["judgments"]
    assert (stated["people"], stated["erased_people"]) == (said_before["people"], 1)
    assert found_in(tmp_path) == set()


def test_only_an_admin_erases_and_nobody_twice_or_while_owed() -> None:
    study = making.study(making.corpus(images=12), settings={"candidates_a_page": 4})
    account, admin = making.rater(study), making.user(is_staff=True)
    with pytest.raises(NotAllowed):
        erase(person=account.person, by=study.corpus.owner)
    owed = making.claim(making.publication(study), "confirmed")
    with pytest.raises(Refused, match="waits for its payment"):
        erase(person=owed.account.person, by=admin)
    assert not Erasure.objects.exists()
    assert account.user is not None
    command = ("erase_person", "in_house", account.user.email, "--by", admin.email)
    call_command(*command, stdout=(outlook := StringIO()))
    assert "Accounts: 1. Pages: 0." in outlook.getvalue()
    assert "Nothing is erased yet" in outlook.getvalue()
    assert not Erasure.objects.exists()
    call_command(*command, "--yes", stdout=(done := StringIO()))
    assert "Erased. Accounts emptied: 1." in done.getvalue()
    with pytest.raises(Refused, match="already"):
        erase(person=account.person, by=admin)
    with pytest.raises(Refused, match="Nobody is known"):
        find(channel="in_house", identity=account.user.email)
    with pytest.raises(DatabaseError, match="only ever added"), connection.cursor() as cursor:
        cursor.execute("DELETE FROM hits_erasure")


def correcting(study: Study, account: Account, text: str) -> Unit:
    """A page on which one text is corrected to this one and all others are confirmed."""
    page = draw(study=study, account=account)
    slots = list(page.slots.select_related("unit").order_by("position"))
    corrected = next(slot for slot in slots if slot.unit.gold is None)
    fields = {
        f"q{slot.position}-choice": ["confirm" if slot.unit.gold is None else "hopeless"]
        for slot in slots
    }
    fields[f"q{corrected.position}-choice"] = ["correct"]
    fields[f"q{corrected.position}-text"] = [text]
    submit(assignment_key=page.key, account=account, fields=fields)
    return corrected.unit


def choosing_what_was_corrected(study: Study, account: Account) -> None:
    page = draw(study=study, account=account)
    fields = {
        f"q{slot.position}-choice": [str((slot.shown or {})["order"].index("corrected") + 1)]
        for slot in page.slots.all()
    }
    submit(assignment_key=page.key, account=account, fields=fields)


def test_what_was_written_as_an_answer_goes_out_again_and_from_later_studies() -> None:
    corpus = making.corpus(images=12)
    study = study_of_renovation(corpus)
    writer = making.rater(study)
    written = correcting(study, writer, 'A "planted" sentence about a dog.')
    correcting(study, making.rater(study), 'A "planted" sentence about a dog. No, two.')
    check_submitted()
    later = create_study(
        slug="later", name="Later", corpus=corpus, protocol_slug="right_text", by=corpus.owner
    )
    choose_feeders(study=later, feeders=[study])
    open_study(study=later)
    of_others = later.units.get(payload__corrected__endswith="No, two.")
    choosing_what_was_corrected(later, making.rater(later))
    check_submitted()
    release(studies=[study], name="texts", by=corpus.owner)
    asked_about = release(studies=[later], name="asked-about", by=corpus.owner)
    folder = shelf.path_of(asked_about.files.get(name="units.csv")).parent
    assert any(b"sentence about a dog." in path.read_bytes() for path in folder.iterdir())
    assert b'sentence about a dog."' in dump()
    assert outlook(writer.person)["releases"] == 2
    made = erase(person=writer.person, by=making.user(is_staff=True))
    assert b'sentence about a dog."' not in dump()
    assert made.counts["judgments"] == 1
    written.refresh_from_db()
    assert (written.counted, written.is_open) == (0, True)
    assert_places_reconcile()
    assert [unit.pk for unit in later.units.filter(excluded=False)] == [of_others.pk]
    assert later.units.get(pk=of_others.pk).payload == of_others.payload
    assert not Release.objects.filter(withdrawn_at=None).exists()
    assert not folder.exists()

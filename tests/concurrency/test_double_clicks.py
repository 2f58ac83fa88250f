"""One form sent several times at the same moment makes one thing, and the rest is told so."""

from collections.abc import Callable
from functools import partial

import pytest
from django.test import Client

from hits.models import Corpus, Membership, Role, Study, User
from hits.pipeline.arrange import invite
from tests import making
from tests.concurrency.racing import at_once

pytestmark = pytest.mark.django_db(transaction=True)

CLICKS = 4


def visit(user: User | None = None) -> Client:
    client = Client(raise_request_exception=False)
    if user is not None:
        client.force_login(user)
    return client


def clicked(client_of: Callable[[], Client], path: str, values: dict[str, object]) -> list[str]:
    """The pages that were answered where nothing was made, after one that was led on."""
    clients = [client_of() for _ in range(CLICKS)]
    answers = at_once([partial(client.post, path, values) for client in clients])
    assert sorted(answer.status_code for answer in answers) == [200] * (CLICKS - 1) + [302]
    return [answer.content.decode() for answer in answers if answer.status_code == 200]


def test_a_study_asked_for_at_once_is_made_once() -> None:
    corpus = making.corpus(images=1)
    values: dict[str, object] = {
        "name": "Twice", "slug": "twice", "corpus": corpus.pk, "procedure": "eccv-image-to-caption",
        "judgments_wanted": "1", "pay": "0.65", "seed": "0",
    }  # fmt: skip
    others = clicked(partial(visit, corpus.owner), "/research/studies/new/", values)
    assert all("There is a study with this short name." in page for page in others)
    assert Study.objects.filter(slug="twice").count() == 1


def test_a_corpus_asked_for_at_once_is_made_once() -> None:
    researcher = making.user(is_researcher=True)
    values: dict[str, object] = {"name": "Twice", "slug": "twice"}
    others = clicked(partial(visit, researcher), "/research/corpora/new/", values)
    assert all("There is a corpus with this short name." in page for page in others)
    assert Corpus.objects.filter(slug="twice").count() == 1


def test_somebody_who_joins_at_once_has_one_login() -> None:
    study = making.study(making.corpus(images=6))
    link = invite(study=study, by=study.corpus.owner, role=Role.RATER, places=9, days=1)
    values: dict[str, object] = {
        "name": "Rosa", "email": "rosa@example.org", "password": "correct horse battery",
    }  # fmt: skip
    others = clicked(visit, f"/join/{link.token}/", values)
    assert all("There is a login with this address." in page for page in others)
    assert Membership.objects.filter(study=study, user__email="rosa@example.org").count() == 1
    link.refresh_from_db()
    assert link.taken == 1


def test_a_corpus_asked_for_at_once_by_script_is_made_once() -> None:
    researcher = making.user(is_researcher=True)
    values = {"name": "Twice", "slug": "twice"}
    clients = [visit(researcher) for _ in range(CLICKS)]
    answers = at_once([partial(client.post, "/api/corpora/", values) for client in clients])
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * (CLICKS - 1)

"""Pages on a phone by day and on a wide screen by night: nothing sticks out, axe is content."""

from dataclasses import asdict
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, Response

from hits.models import (
    Account,
    Assignment,
    Corpus,
    Evaluation,
    Image,
    Job,
    Membership,
    Role,
    Study,
    User,
)
from hits.pipeline import jobs, letters
from hits.pipeline.check import check_submitted
from hits.pipeline.open import create_study
from hits.pipeline.remove import Thing, remove
from hits.pipeline.runs import Run, ask
from hits.records import Cell, Chart, Column, Table
from tests import making
from tests.browser.conftest import Visitor
from tests.browser.looking import screens, violations
from workers.work import WORK

pytestmark = pytest.mark.django_db(transaction=True)

# What may not scroll inside its own box either.
FITTING = "main, .tabs, .site-nav, .table-scroll:has(> .stacks)"


@pytest.fixture
def study() -> Study:
    return making.study(
        making.corpus(images=14), settings={"candidates_a_page": 4}, pay="0.65", expected_minutes=4
    )


@pytest.fixture
def account(study: Study) -> Account:
    return making.rater(study)


@pytest.fixture
def decided(study: Study, account: Account) -> list[Assignment]:
    pages = [making.work(study, account) for _ in range(3)]
    check_submitted()
    reason = "Answers came faster than the images can be seen, page after page."
    making.refuse(pages[0], study.corpus.owner, reason)
    return pages


def sticking_out(page: Page) -> list[Any]:
    found: list[Any] = page.evaluate(
        f"""[document.documentElement, ...document.querySelectorAll("{FITTING}")]
        .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.className)"""
    )
    return found


def assert_fit(page: Page, paths: list[str]) -> None:
    for path in paths:
        page.goto(path)
        for screen in screens(page):
            found = (sticking_out(page), violations(page))
            assert (path, screen, found) == (path, screen, ([], []))


def test_a_raters_pages_fit(
    visitor: Visitor, study: Study, account: Account, decided: list[Assignment]
) -> None:
    page = visitor(account.user).new_page()
    note = reverse("note", args=[letters.signed(study.pk, account.pk)])
    assert_fit(page, ["/", f"/studies/{study.slug}/consent/", "/work/", note])


def _evaluated(user: User) -> str:
    """With a figure and a table wider than a phone."""
    shares = [Column(f"A long name {n}", "share") for n in range(9)]
    chart = Chart("bars", (0,), tuple(range(1, 9)), "Name", "Share", "9 of them")
    rows: list[list[Cell]] = [[f"W{'w' * 30}", *[0.5] * 9]]
    table = Table("shares", "Shares", "Of all.", [Column("Name"), *shares], rows, chart=chart)
    made = Evaluation.objects.create(
        kind="retrieval",
        name="Evaluated",
        by=user,
        job=Job.objects.create(kind="evaluate", state="done", asked_by=user),
        files={"ids": {"name": "i" * 100 + ".json", "size": 1, "sha256": "0" * 64}},
        tables=[asdict(table)],
    )
    return f"/research/evaluations/{made.pk}/"


def test_desks_fit(visitor: Visitor, study: Study, decided: list[Assignment]) -> None:
    researcher: User = study.corpus.owner
    Membership.objects.create(study=study, user=researcher, role=Role.REVIEWER)
    page = visitor(researcher).new_page()
    tabs = ["", "results/", "report/", "people/", "settings/", "releases/", "imports/"]
    tabs += ["curation/?doubtful=1&golds=1", "rehearsal/"]
    _curated(study)
    _rehearsed(study)
    paths = [f"/research/studies/{study.slug}/{tab}" for tab in tabs]
    paths += ["/research/recipes/", "/research/recipes/cxc/", _started_recipe(study.corpus)]
    paths += [f"/research/evaluations/{name}" for name in ("", "new/retrieval/")]
    paths.append(_evaluated(researcher))
    paths += [f"/review/{study.slug}/{name}/" for name in ("decided", "people")]
    assert_fit(page, [*paths, "/review/", "/research/"])


def test_what_machines_are_asked_for_and_proposed_fits(visitor: Visitor, study: Study) -> None:
    corpus = study.corpus
    making.proposals(corpus, direction="t2i")
    draft = create_study(
        slug="finer", name="Finer", corpus=corpus, protocol_slug="renovation", by=corpus.owner
    )
    _renovated(draft)
    page = visitor(corpus.owner).new_page()
    desk = f"/research/corpora/{corpus.slug}/"
    paths = [desk, f"{desk}proposals/", f"/research/studies/{study.slug}/propose/"]
    paths += ["/research/studies/finer/", "/research/studies/finer/renovate/"]
    assert_fit(page, [*paths, "/research/evaluations/altered-queries/"])
    page.goto(desk)
    page.get_by_text("A machine that ran elsewhere").click()
    for screen in screens(page):
        assert (screen, sticking_out(page), violations(page)) == (screen, [], [])


def _renovated(study: Study) -> None:
    """As a job leaves it that made texts finer."""
    means = {"nouns": 2.5, "adjectives": 0.5, "words": 9.25}
    counts = {"texts": 25_000, "coarse": 12_345, "details": 98_765, "fitting": 43_210}
    statistics = {"before": means, "after": means}
    kept = {"proposed": 9_876, "added": 9_876, "there": 0}
    result = {**counts, **kept, "statistics": statistics}
    arguments = {"captioner": "c" * 100}
    Job.objects.create(
        kind="renovate", study=study, arguments=arguments, state="done", result=result
    )


def test_desks_fit_names_without_a_space(
    visitor: Visitor, study: Study, decided: list[Assignment]
) -> None:
    word = "W" * 150
    corpus, researcher = study.corpus, study.corpus.owner
    User.objects.filter(pk=researcher.pk).update(first_name=word, last_name=word)
    Study.objects.filter(pk=study.pk).update(name=word)
    Corpus.objects.filter(pk=corpus.pk).update(name=word, licence=word)
    Image.objects.filter(corpus=corpus).update(split="w" * 40, file_name=f"{word}.png")
    arguments = {"called": f"{word}.csv"}
    Job.objects.create(kind="import", corpus=corpus, arguments=arguments, message=word)
    draft = create_study(
        slug="w" * 50, name=word, corpus=corpus, protocol_slug="matching", by=researcher
    )
    Membership.objects.create(study=study, user=researcher, role=Role.REVIEWER)
    page = visitor(researcher, 360).new_page()
    tabs = ["", "results/", "report/", "people/", "settings/", "releases/", "imports/"]
    paths = [f"/research/studies/{study.slug}/{tab}" for tab in tabs]
    paths += [f"/research/studies/{draft.slug}/", f"/research/corpora/{corpus.slug}/"]
    paths += ["/research/", "/research/studies/new/", "/review/", f"/review/{study.slug}/decided/"]
    paths += ["/research/recipes/", "/research/recipes/cxc/", _started_recipe(corpus)]
    paths.append(f"/review/{study.slug}/{decided[0].key}/")
    found = {}
    for path in paths:
        page.goto(path)
        found[path] = sticking_out(page)
    assert found == {path: [] for path in paths}


def _curated(study: Study) -> None:
    """Something is removed, and one pair doubted."""
    captions = study.corpus.captions.order_by("pk")
    things = [Thing(caption=caption.pk) for caption in captions[:2]]
    remove(study=study, things=things, reason="Nothing is said.", by=study.corpus.owner)


def _rehearsed(study: Study) -> None:
    arguments = {"study": study.pk, "people": 15}
    job = jobs.ask(kind="rehearse", arguments=arguments, by=None, study=study)
    jobs.run(job.pk, WORK)


def _started_recipe(corpus: Corpus) -> str:
    ask(run := Run.of(recipe="cxc", corpus=corpus, by=corpus.owner))
    return f"/research/recipes/cxc/{corpus.slug}/{run.name}/"


def test_the_admin_site_asks_for_nothing_that_is_not_there(visitor: Visitor) -> None:
    page = visitor(making.user(is_staff=True, is_superuser=True)).new_page()
    missing: list[str] = []

    def note(response: Response) -> None:
        if response.status >= 400:
            missing.append(response.url)

    page.on("response", note)
    page.goto("/admin/", wait_until="networkidle")
    assert missing == []
    assert page.request.get("/favicon.ico").ok

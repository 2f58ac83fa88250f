"""Two studies with people in every role, and secrets planted that no rater may ever see."""

import json
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.client import ClientHandler
from rest_framework.authtoken.models import Token

from hits.models import (
    Assignment,
    Caption,
    Claim,
    ClaimState,
    Corpus,
    Evaluation,
    Exclusion,
    Hit,
    Image,
    Intent,
    Invitation,
    Job,
    Membership,
    PersonEvent,
    Publication,
    Qualification,
    Region,
    Release,
    ReleaseFile,
    Role,
    Study,
    Unit,
    User,
)
from hits.pipeline import claim as claims
from hits.pipeline import jobs, standing
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.load import LoadReport
from hits.pipeline.open import create_study
from hits.pipeline.runs import Run, ask
from hits.pipeline.shelf import path_of
from hits.pipeline.submit import save_draft, submit
from hits.pipeline.training import let_in
from hits.records import Column, Table
from tests import framed, making

PEOPLE = ["anonymous", "stranger", "rater", "reviewer", "other", "researcher", "admin"]
SMALL = {"candidates_a_page": 4, "judged_depth": 1, "fill_depth": 1}

# As text that can stand nowhere else.
GOLD, MACHINE, UNIT = "planted-gold", "planted-machine", "planted-unit"
ANSWER, PROBLEM, NAME = "planted-answer", "planted-problem", "planted-name"
FILE, EXTERNAL = "planted-file", "planted-external"
UNIT_ID, SLOT_ID = 880_088_008_800, 990_099_009_900
SECRETS = [GOLD, MACHINE, UNIT, ANSWER, PROBLEM, NAME, FILE, EXTERNAL, "8800880088", "9900990099"]


@dataclass
class World:
    people: dict[str, User | None]
    corpus: Corpus
    study: Study
    draft: Study
    other: Study
    open_page: Assignment
    failed_page: Assignment
    own_page: Assignment
    training_page: Assignment
    release: Release
    job: Job
    decided_many: Job
    run: Run
    evaluation: Evaluation
    invitation: Invitation
    member: Membership
    proposals: list[int]
    hit: Hit
    publication: Publication
    refused_call: Intent
    appeal: PersonEvent
    gold: Unit
    claim: Claim
    stranded_there: Claim
    stranded_here: Claim
    _sessions: dict[str, Client] = field(default_factory=dict)

    def log_in(self) -> None:
        for name in self.people:
            self.page_client(name)
            self.api_client(name)

    def page_client(self, name: str) -> Client:
        """A client of its own in the person's one session."""
        user, client = self.people[name], a_client()
        if user is None:
            return client
        if name not in self._sessions:
            self._sessions[name] = a_client()
            self._sessions[name].force_login(user)
        client.cookies = deepcopy(self._sessions[name].cookies)
        return client

    def api_client(self, name: str) -> Client:
        user = self.people[name]
        if user is None:
            return a_client()
        token, _ = Token.objects.get_or_create(user=user)
        return a_client(headers={"authorization": f"Token {token.key}"})


_handler = ClientHandler(enforce_csrf_checks=False)


def a_client(**values: Any) -> Client:
    """All share one handler: each would read all static files anew."""
    client = Client(**values)
    client.handler = _handler
    return client


def make() -> World:
    _start_sequences()
    other = making.study(making.corpus(images=12), settings=SMALL)
    end_of_transaction()
    corpus = making.corpus(images=12)
    proposals = making.proposals(corpus, name=MACHINE)
    study = making.study(corpus, settings=SMALL, judgments_wanted=2, training_units=2)
    _plant_ids(corpus, study)
    draft = create_study(
        slug="a-draft", name="A draft", corpus=corpus, protocol_slug="matching", by=corpus.owner
    )
    draft.proposals.set(proposals)
    people = _people(study, other)
    rater = people["rater"]
    assert rater is not None
    failed_page = _failed_page(study)
    training_page = _submitted_by(study, rater)
    own_page = _submitted_by(study, rater)
    check_submitted()
    open_page = draw(study=study, account=rater.account)
    release = _release(study, corpus.owner)
    _one_of_everything(corpus)
    Exclusion.objects.create(study=draft, other=other)
    return World(
        people=people,
        corpus=corpus,
        study=study,
        draft=draft,
        other=other,
        open_page=open_page,
        failed_page=failed_page,
        own_page=own_page,
        training_page=training_page,
        release=release,
        job=_finished_import(corpus),
        decided_many=_decided_many(study, people["reviewer"]),
        run=_started_recipe(corpus),
        evaluation=_evaluation(corpus.owner),
        invitation=Invitation.objects.create(study=study, created_by=corpus.owner, places=100),
        member=Membership.objects.get(study=study, user=people["reviewer"]),
        proposals=proposals,
        hit=_accepted_hit(study),
        appeal=_appeal(study, failed_page),
        gold=Unit.objects.filter(study=study, gold__isnull=False).earliest("pk"),
        **_published(study),
    )


def _published(study: Study) -> dict[str, Any]:
    """At a marketplace, with work that went well and work that is stranded."""
    publication = making.publication(study, hits=1)
    making.hit(publication, "meant")
    return {
        "publication": publication,
        "refused_call": making.settled(publication, "bonus", state="refused"),
        "claim": making.claim(publication, ClaimState.CONFIRMED),
        "stranded_there": making.claim(publication, ClaimState.NO_ANSWERS),
        "stranded_here": making.claim(publication, ClaimState.NOT_HANDED_OVER),
    }


def _start_sequences() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER SEQUENCE hits_unit_id_seq RESTART WITH {UNIT_ID}")
        cursor.execute(f"ALTER SEQUENCE hits_slot_id_seq RESTART WITH {SLOT_ID}")


def end_of_transaction() -> None:
    """Opening leaves a table that its commit would drop; tests have no commit in between."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS pg_temp.unit_draft")


def _plant_ids(corpus: Corpus, study: Study) -> None:
    for unit in Unit.objects.filter(study=study):
        unit.key = f"{UNIT}-{unit.key}"
        if unit.gold is not None:
            unit.gold["planted"] = GOLD
        unit.save(update_fields=["key", "gold"])
    for image in Image.objects.filter(corpus=corpus):
        image.external_id, image.file_name = f"{EXTERNAL}-{image.pk}", f"{FILE}-{image.pk}"
        image.save(update_fields=["external_id", "file_name"])
    for caption in Caption.objects.filter(corpus=corpus):
        caption.external_id = f"{EXTERNAL}-{caption.pk}"
        caption.save(update_fields=["external_id"])


def _people(study: Study, other: Study) -> dict[str, User | None]:
    reviewer = making.user(first_name=NAME)
    Membership.objects.create(study=study, user=reviewer, role=Role.REVIEWER)
    researcher = study.corpus.owner
    User.objects.filter(pk=researcher.pk).update(first_name=NAME)
    return {
        "anonymous": None,
        "stranger": making.rater(other).user,
        "rater": making.rater(study).user,
        "reviewer": reviewer,
        "other": other.corpus.owner,
        "researcher": researcher,
        "admin": making.user(is_staff=True, first_name=NAME),
    }


def _failed_page(study: Study) -> Assignment:
    """Another rater's page: golds failed, with free text in draft, answer and report."""
    account = making.rater(study)
    assert account.user is not None
    User.objects.filter(pk=account.user.pk).update(first_name=NAME)
    let_in(study=study, person_id=account.person_id, by=study.corpus.owner)
    page = draw(study=study, account=account)
    fields = {
        f"q{position}-{name}": [value]
        for position in range(1, page.slots.count() + 1)
        for name, value in {
            "choice": "partial_yes",
            "reasons": "wrong",
            "errors": "other",
            "other": ANSWER,
            "problem": PROBLEM,
        }.items()
    }
    save_draft(assignment_key=page.key, account=account, fields=fields, revision=0)
    submit(assignment_key=page.key, account=account, fields=fields)
    return page


def _appeal(study: Study, page: Assignment) -> PersonEvent:
    return standing.appeal(study=study, account=page.account, text=ANSWER)


def _submitted_by(study: Study, user: User) -> Assignment:
    page = draw(study=study, account=user.account)
    fields = making.truthful(page)
    submit(assignment_key=page.key, account=user.account, fields=fields)
    return page


def _accepted_hit(study: Study) -> Hit:
    hit = making.offered(study)
    claims.agree(hit=hit, entry=framed.entry(hit))
    return hit


def _release(study: Study, by: User) -> Release:
    made = Release.objects.create(
        name="a-release", major=1, last_decision_id=0, manifest={"name": NAME}, made_by=by
    )
    made.studies.add(study)
    file = ReleaseFile.objects.create(release=made, name="data.json", sha256="0" * 64, size=2)
    path_of(file).parent.mkdir(parents=True, exist_ok=True)
    path_of(file).write_text("{}")
    return made


def _started_recipe(corpus: Corpus) -> Run:
    run = Run.of(recipe="eccv", corpus=corpus, by=corpus.owner)
    ask(run)
    return run


def _decided_many(study: Study, by: User | None) -> Job:
    assert by is not None
    job = jobs.ask(
        kind="decide",
        arguments={"by": by.pk, "pages": [], "use": "used", "reason": "Looked at."},
        by=by,
        study=study,
    )
    job.state = Job.State.DONE
    job.result = {"decided": 0, "left": {}}
    job.save(update_fields=["result", "state"])
    return job


def _finished_import(corpus: Corpus) -> Job:
    refusals = Path(settings.DATA_DIR) / "imports" / "refused.jsonl"
    refusals.parent.mkdir(parents=True, exist_ok=True)
    line = dict.fromkeys(("file", "place", "kind", "id", "reason", "detail"), "x")
    refusals.write_text(f"{json.dumps(line)}\n")
    job = jobs.ask(kind="import", arguments={}, by=corpus.owner, corpus=corpus)
    job.result = LoadReport(refusals=str(refusals), refused=1).as_json()
    job.state = Job.State.DONE
    job.save(update_fields=["result", "state"])
    return job


def _evaluation(by: User) -> Evaluation:
    columns = [Column("Worker"), Column("n", "count")]
    table = Table("people", "People", "", columns, [["w", 1]])
    return Evaluation.objects.create(
        kind="agreement",
        name="Theirs",
        by=by,
        job=jobs.ask(kind="evaluate", arguments={"name": "Theirs"}, by=by),
        tables=[asdict(table)],
    )


def _one_of_everything(corpus: Corpus) -> None:
    """Of what the rest makes none of, for the pages of the admin site."""
    image = corpus.images.earliest("pk")
    box = {"x": 1, "y": 1, "width": 2, "height": 2, "area": 4}
    Region.objects.create(corpus=corpus, image=image, external_id="1", category="horse", **box)
    Qualification.objects.create(channel="local", name="Took part")
    Intent.objects.create(token="1", channel="mturk", action="create", request={})
    address = {"username": "x", "ip_address": "127.0.0.1", "user_agent": "", "path_info": "/"}
    AccessAttempt.objects.create(failures_since_start=1, **address)
    AccessFailureLog.objects.create(**address)


def answers_as_json(page: Assignment) -> dict[str, Any]:
    return {
        str(position): {"choice": "yes", "ms": 1500}
        for position in page.slots.values_list("position", flat=True)
    }

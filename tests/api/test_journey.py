"""From a token to a release, by HTTP alone, as a script would."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from pytest_django.live_server_helper import LiveServer

from hits.models import Membership, Role
from hits.pipeline import jobs
from hits.pipeline.check import check_submitted
from tests import making
from workers.work import WORK

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class Script:
    """What a script has: an address and, once it asked for one, a token."""

    server: str
    token: str = ""

    def log_in(self, email: str) -> None:
        sent = {"username": email, "password": "a good password"}
        self.token = self.ask("POST", "/api/token/", sent)[1]["token"]

    def ask(self, method: str, path: str, sent: Any = None) -> tuple[int, Any]:
        status, body = self.fetch(method, path, sent)
        return status, json.loads(body) if body else None

    def fetch(self, method: str, path: str, sent: Any = None) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Token {self.token}"
        data = None if sent is None else json.dumps(sent).encode()
        request = Request(self.server + path, data, headers, method=method)
        try:
            with urlopen(request) as response:
                return response.status, response.read()
        except HTTPError as refusal:
            return refusal.code, refusal.read()


def test_the_whole_journey_by_http(live_server: LiveServer) -> None:
    corpus = making.corpus()
    making.proposals(corpus)
    reviewer, rater = making.user(), making.user()
    research, review, rate = (Script(live_server.url) for _ in range(3))
    research.log_in(corpus.owner.email)
    review.log_in(reviewer.email)
    rate.log_in(rater.email)

    study = _set_up(research, corpus.slug, reviewer.email, rate)
    page = _work(rate, study)
    _review(review, study, page)
    _release(research, study)


def _set_up(research: Script, corpus: str, reviewer: str, rate: Script) -> str:
    new = {"slug": "by-http", "name": "By HTTP", "corpus": corpus, "protocol": "matching"}
    assert research.ask("POST", "/api/studies/", new)[0] == 201
    study = "/api/studies/by-http/"
    proposals = research.ask("GET", f"/api/corpora/{corpus}/proposals/")[1]["results"]
    chosen = {"proposals": [proposal["id"] for proposal in proposals]}
    assert research.ask("PUT", study + "proposals/", chosen)[0] == 200
    _done(research, research.ask("POST", study + "open/"))
    members = {"email": reviewer, "role": "reviewer"}
    assert research.ask("POST", study + "members/", members)[0] == 201
    status, invitation = research.ask("POST", study + "invitations/", {"places": 1})
    assert status == 201
    assert rate.ask("POST", "/api/join/", {"token": invitation["token"]})[1]["role"] == "rater"
    return study


def _done(script: Script, asked: tuple[int, Any]) -> Any:
    """A job that was accepted, done by a worker, as its own address tells of it."""
    status, job = asked
    assert status == 202, job
    jobs.run(job["id"], WORK)
    found = script.ask("GET", f"/api/jobs/{job['id']}/")[1]
    assert found["state"] == "done", found
    return found["result"]


def _work(rate: Script, study: str) -> str:
    assert rate.ask("POST", study + "next/")[0] == 403
    version = rate.ask("GET", study + "consent/")[1]["version"]
    assert rate.ask("POST", study + "consent/", {"version": version + 1})[0] == 409
    assert rate.ask("POST", study + "consent/", {"version": version})[1]["has_agreed"]
    status, page = rate.ask("POST", study + "next/")
    assert (status, len(page["questions"])) == (200, 20)
    own = f"/api/assignments/{page['key']}/"
    image = page["questions"][0]["shown"]["image"]["url"].removeprefix(rate.server)
    assert rate.fetch("GET", image)[1].startswith(b"\x89PNG")
    half = {str(position): {"choice": "yes", "ms": 900} for position in range(1, 11)}
    draft = {"revision": page["revision"], "answers": half}
    assert rate.ask("PUT", own + "draft/", draft)[1]["revision"] == 1
    assert rate.ask("PUT", own + "draft/", {**draft, "revision": 0})[1]["error"] == "stale"
    assert rate.ask("GET", own)[1]["answers"]["1"] == {"choice": ["yes"], "ms": ["900"]}
    status, refusal = rate.ask("POST", own + "submit/", {"answers": half, "revision": 1})
    assert (status, sorted(refusal["errors"], key=int)) == (422, [str(n) for n in range(11, 21)])
    all_yes = {str(position): {"choice": "yes", "ms": 900} for position in range(1, 21)}
    done = {"answers": all_yes, "device": "keyboard", "revision": 1}
    receipt = rate.ask("POST", own + "submit/", done)
    assert receipt[0] == 200
    assert rate.ask("POST", own + "submit/", {"answers": all_yes}) == receipt
    check_submitted()
    return str(page["key"])


def _review(review: Script, study: str, page: str) -> None:
    queue = review.ask("GET", study + "review/")[1]["results"]
    assert [(waiting["key"], waiting["golds_failed"]) for waiting in queue] == [(page, 1)]
    evidence = review.ask("GET", f"/api/reviews/{page}/")[1]
    failed = [answer for answer in evidence["answers"] if answer["passed"] is False]
    assert [answer["expected"] for answer in failed] == ["A no (either no)"]
    decision = {"use": "used", "payment": "approved", "reason": "Close to the edge."}
    decide = f"/api/reviews/{page}/decide/"
    seen = evidence["last_decision"]
    status, decided = review.ask("POST", decide, {**decision, "last_decision": seen})
    assert (status, decided["page"]["use"]) == (200, "used")
    again = review.ask("POST", decide, {**decision, "last_decision": seen})
    assert (again[0], again[1]["error"]) == (409, "stale")
    assert review.ask("GET", study + "review/")[1]["results"] == []


def _release(research: Script, study: str) -> None:
    results = research.ask("GET", study + "results/")[1]
    assert results["results"]["n"] == 18
    asked = research.ask("POST", study + "releases/", {"name": "by-http"})
    number = _done(research, asked)["release"]
    release = research.ask("GET", f"/api/releases/{number}/")[1]
    assert "manifest.json" in [file["name"] for file in release["files"]]
    for file in release["files"]:
        status, body = research.fetch("GET", f"/api/releases/{number}/files/{file['name']}/")
        assert (status, hashlib.sha256(body).hexdigest()) == (200, file["sha256"])


def test_a_stranger_with_a_token_finds_nothing(live_server: LiveServer) -> None:
    study = making.study()
    Membership.objects.create(study=study, user=making.user(), role=Role.RATER)
    stranger = Script(live_server.url)
    stranger.log_in(making.user().email)
    assert stranger.ask("GET", f"/api/studies/{study.slug}/") == (
        404,
        {"error": "not_found", "message": "There is no such thing here."},
    )

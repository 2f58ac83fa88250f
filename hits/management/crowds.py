"""A simulated crowd at work over HTTP: as raters of this site, and as workers of a marketplace.

They see no more than people do, but for the truth, which is looked up in the database; and the time
that they would have taken passes at once."""

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import timedelta
from random import Random
from urllib.parse import parse_qs, urlencode, urlsplit

from django.db import connection
from django.db.models import F, Sum
from django.utils import timezone
from django.utils.crypto import salted_hmac

from hits.channels import configured
from hits.management.visiting import Form, NotServed, Visitor, expect, forms_of, frame_of
from hits.models import Account, Assignment, Claim, Hit, Membership, Person, Role, Study, Unit, User
from hits.pipeline import simulated
from hits.pipeline.errors import Refused
from hits.pipeline.people import account_of
from hits.pipeline.rules import judged_pool, rules_of
from hits.pipeline.simulated import Answering, Worker
from hits.records import Fields

NOTHING_MORE = 409
Tell = Callable[[int], None]


class Crowd:
    """What all who work in a study have in common: how they answer, and how far they are."""

    def __init__(
        self, study: Study, workers: Sequence[Worker], seed: int, *, wrong_golds: float = 0.0
    ) -> None:
        self.study = study
        self.workers = workers
        self.seed = seed
        self._answering = Answering(*rules_of(study), seed, wrong_golds=wrong_golds)
        self._pages_each = max(1, math.ceil(_pages_left(study) / len(workers)))

    def answers(self, worker: Worker, page: Assignment) -> Fields:
        """The form of a page, filled in; and so much earlier it was drawn as that took."""
        slots = page.slots.select_related("unit__promoted_from").order_by("position")
        units = [simulated.unit_of(slot.unit, slot.shown) for slot in slots]
        progress = min(1.0, worker.pages / self._pages_each)
        given = self._answering.page(worker, units, progress)
        took = timedelta(seconds=sum(answer.seconds for answer in given))
        Assignment.objects.filter(pk=page.pk).update(drawn_at=timezone.now() - took)
        fields: dict[str, list[str]] = {"device": [worker.device]}
        for position, answer in enumerate(given, 1):
            fields |= {f"q{position}-{name}": list(said) for name, said in answer.fields.items()}
            fields[f"q{position}-ms"] = [str(round(answer.seconds * 1000))]
        return fields

    def work(
        self, do_page: Callable[[Worker], bool], *, at_once: int, most_pages: int | None, tell: Tell
    ) -> int:
        """People do pages, the more active ones more, until nobody finds another or enough are
        done."""
        random, idle, done = Random(self.seed), list(self.workers), 0
        asked = 0
        running: dict[Future[bool], Worker] = {}
        with ThreadPoolExecutor(at_once) as pool:
            while True:
                while (
                    idle and len(running) < at_once and (most_pages is None or asked < most_pages)
                ):
                    (worker,) = random.choices(idle, [each.activity for each in idle])
                    idle.remove(worker)
                    running[pool.submit(_in_a_thread, do_page, worker)] = worker
                    asked += 1
                if not running:
                    return done
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    worker = running.pop(future)
                    if future.result():
                        idle.append(worker)
                        done += 1
                        tell(done)


def _in_a_thread(do_page: Callable[[Worker], bool], worker: Worker) -> bool:
    try:
        return do_page(worker)
    finally:
        connection.close()


def _pages_left(study: Study) -> int:
    kind, settings = rules_of(study)
    size = next(iter(kind.composition(settings).values()))
    open_units = Unit.objects.filter(study=study, pool=judged_pool(study), is_open=True)
    left = open_units.aggregate(left=Sum(F("wanted") - F("held") - F("counted")))["left"] or 0
    return math.ceil(left / size)


def password_of(worker: Worker) -> str:
    """Made from the installation's secret, so that a second run can log in again."""
    return salted_hmac("simulated crowd", worker.name).hexdigest()[:24]


class Raters:
    """They log in, agree, ask for a page, save it and submit it, through the API."""

    def __init__(self, crowd: Crowd, url: str) -> None:
        self._crowd = crowd
        self._api = f"{url.rstrip('/')}/api"
        self._visitors: dict[str, Visitor] = {}
        for worker in crowd.workers:
            _enrol(crowd.study, worker)

    def do_page(self, worker: Worker) -> bool:
        visitor = self._visitors.get(worker.name) or self._come(worker)
        answer = visitor.send_json(f"{self._api}/studies/{self._crowd.study.slug}/next/", {})
        if answer.status == NOTHING_MORE:
            return False
        shown = expect(answer).json()
        page = Assignment.objects.get(key=shown["key"])
        answers = _by_position(self._crowd.answers(worker, page))
        address = f"{self._api}/assignments/{page.key}"
        draft = {"revision": shown["revision"], "answers": answers}
        saved = expect(visitor.send_json(f"{address}/draft/", draft, method="PUT")).json()
        sent = {"revision": saved["revision"], "answers": answers, "device": worker.device}
        expect(visitor.send_json(f"{address}/submit/", sent))
        return True

    def _come(self, worker: Worker) -> Visitor:
        visitor = Visitor()
        login = {"username": _email(worker), "password": password_of(worker)}
        token = expect(visitor.send_json(f"{self._api}/token/", login)).json()["token"]
        visitor.headers["Authorization"] = f"Token {token}"
        consent = f"{self._api}/studies/{self._crowd.study.slug}/consent/"
        version = expect(visitor.get(consent)).json()["version"]
        expect(visitor.send_json(consent, {"version": version}))
        self._visitors[worker.name] = visitor
        return visitor


def _by_position(fields: Fields) -> dict[str, dict[str, list[str]]]:
    """As the API takes answers: by question, under the short names of its fields."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, said in fields.items():
        position, dash, short = name.partition("-")
        if dash:
            found.setdefault(position.removeprefix("q"), {})[short] = said
    return found


def _email(worker: Worker) -> str:
    return f"{worker.name}@simulated.invalid"


def _enrol(study: Study, worker: Worker) -> None:
    user, _ = User.objects.get_or_create(
        username=_email(worker), defaults={"email": _email(worker), "first_name": worker.name}
    )
    if not user.check_password(password_of(worker)):
        user.set_password(password_of(worker))
        user.save()
    Membership.objects.get_or_create(study=study, user=user, role=Role.RATER)
    Person.objects.filter(pk=account_of(user).person_id).update(is_simulated=True)


class MarketWorkers:
    """They register at the marketplace's site, accept HITs of the study there, work in the frame
    and hand over."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        publication = crowd.study.publications.filter(state="open").order_by("-pk").first()
        if publication is None:
            raise Refused("Publish the study first: there is no HIT of it at a marketplace.")
        self._publication = publication
        self._market = configured.channel(publication.channel).submit_origin.rstrip("/")
        self._visitors: dict[str, Visitor] = {}
        # Two who accept at the same moment may look at the same HIT.
        self._accepting = threading.Lock()

    def do_page(self, worker: Worker) -> bool:
        visitor = self._visitors.get(worker.name) or self._come(worker)
        with self._accepting:
            offer = self._offer(visitor)
            if offer is None:
                return False
            accepted = visitor.send(offer.action, offer.fields)
        if accepted.status == NOTHING_MORE:
            return False
        self._work(worker, visitor, frame_of(expect(accepted)))
        return True

    def _come(self, worker: Worker) -> Visitor:
        visitor = Visitor()
        account = {"name": worker.name, "password": password_of(worker)}
        new = visitor.send(f"{self._market}/register/", {**account, "country": "US"})
        if new.status != 200:
            expect(visitor.send(f"{self._market}/login/", account))
        self._visitors[worker.name] = visitor
        return visitor

    def _offer(self, visitor: Visitor) -> Form | None:
        """To accept a HIT of this study, if one is on the first page of those offered."""
        ours = set(
            Hit.objects.filter(publication=self._publication).values_list("hit_id", flat=True)
        )
        offers = forms_of(expect(visitor.get(f"{self._market}/")))
        return next((form for form in offers if form.fields.get("hit") in ours), None)

    def _work(self, worker: Worker, visitor: Visitor, frame: str) -> None:
        inside = Visitor()
        shown = expect(inside.get(frame))
        consent = next((form for form in forms_of(shown) if "/agree" in form.action), None)
        if consent is not None:
            shown = expect(inside.send(consent.action, consent.fields))
        claim = _claim(frame)
        if claim.assignment is not None and claim.assignment.state == Assignment.State.OPEN:
            (form,) = [each for each in forms_of(shown) if "/submit" in each.action]
            answers = self._crowd.answers(worker, claim.assignment)
            bearer = {"Authorization": f"Bearer {form.fields['token']}", "Accept": JSON}
            sent = {**answers, "revision": [form.fields.get("revision", "0")]}
            save = form.action.replace("/submit?", "/save?")
            saved = expect(inside.send(save, sent, **bearer)).json()
            sent["revision"] = [str(saved["revision"])]
            expect(inside.send(form.action, sent, **bearer))
            shown = expect(inside.get(frame))
        (over,) = [form for form in forms_of(shown) if form.attributes.get("id") == "hand-over"]
        expect(visitor.send(over.action, over.fields))


JSON = "application/json"


def _claim(frame: str) -> Claim:
    """Who came with this address, and the page that the HIT owes them."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(frame).query).items()}
    account = Account.objects.filter(external_id=query["workerId"]).values_list("person_id")
    Person.objects.filter(pk__in=account).update(is_simulated=True)
    claims = Claim.objects.select_related("assignment", "hit__publication")
    found = claims.filter(
        hit__hit_id=query["hitId"],
        ref=query["assignmentId"],
        account__external_id=query["workerId"],
    ).first()
    if found is None:
        raise NotServed(f"No claim was made with {urlencode(query)}.")
    return found

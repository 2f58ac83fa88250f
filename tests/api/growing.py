"""Many rows of everything that a list shows, made in bulk."""

from datetime import timedelta
from itertools import count
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model, OuterRef, Subquery
from django.utils import timezone

from hits.models import (
    Account,
    Assignment,
    Caption,
    Claim,
    Consent,
    Corpus,
    Decision,
    Erasure,
    Exclusion,
    Hit,
    Image,
    Intent,
    Invitation,
    Job,
    Judgment,
    JudgmentImport,
    Machine,
    Membership,
    Participation,
    Person,
    Proposal,
    Publication,
    Qualification,
    Release,
    ReleaseFile,
    Role,
    Slot,
    Study,
    StudyVersion,
    Unit,
    User,
)
from tests.api.world import World

T = TypeVar("T", bound=Model)

_numbers = count(1)


class Grown:
    """A world with so many more rows of every kind."""

    def __init__(self, world: World, rows: int) -> None:
        self.world = world
        self.study = world.study
        self.owner = world.corpus.owner
        start = next(_numbers) * 1_000_000
        self.numbers = range(start, start + rows)
        self.users = self._each(
            User,
            lambda n: {"username": f"u{n}@x.org", "email": f"u{n}@x.org", "first_name": f"{n}"},
        )
        self._people()
        self._corpora()
        self._studies()
        self._pages()
        self._sales()
        self._made()
        with connection.cursor() as cursor:
            # As autovacuum would soon: what tests before this one had must not decide on plans.
            cursor.execute("ANALYZE")

    def _each(self, model: type[T], values: Any) -> list[T]:
        made: list[T] = model._default_manager.bulk_create(
            model(**values(number)) for number in self.numbers
        )
        return made

    def _user(self, number: int) -> User:
        return self.users[number - self.numbers.start]

    def _people(self) -> None:
        people = self._each(Person, lambda n: {})
        self.person = dict(zip(self.numbers, people, strict=True))
        accounts = self._each(
            Account,
            lambda n: {"person": self.person[n], "channel": "local", "external_id": f"W{n}"},
        )
        self.account = dict(zip(self.numbers, accounts, strict=True))
        for role in (Role.RATER, Role.REVIEWER):
            self._each(
                Membership,
                lambda n, role=role: {"study": self.study, "user": self._user(n), "role": role},
            )
        self._each(Invitation, lambda n: {"study": self.study, "created_by": self._user(n)})
        self._each(
            Participation,
            lambda n: {"study": self.study, "person": self.person[n], "pages_done": 1},
        )
        self._each(Erasure, lambda n: {"person": self.person[n], "by": self._user(n), "counts": {}})

    def _corpora(self) -> None:
        corpus = self.world.corpus
        self._each(Corpus, lambda n: {"slug": f"c{n}", "name": f"{n}", "owner": self.owner})
        images = self._each(Image, lambda n: {"corpus": corpus, "external_id": f"grown-{n}"})
        image = dict(zip(self.numbers, images, strict=True))
        self._each(
            Caption,
            lambda n: {"corpus": corpus, "image": image[n], "external_id": f"g{n}", "text": "x"},
        )
        machines = self._each(
            Machine, lambda n: {"name": f"m{n}", "version": "1", "kind": "test", "settings": {}}
        )
        machine = dict(zip(self.numbers, machines, strict=True))
        proposals = self._each(
            Proposal,
            lambda n: {
                "corpus": corpus,
                "machine": machine[n],
                "direction": "i2t",
                "depth": 1,
                "finished_at": timezone.now(),
            },
        )
        self.study.proposals.add(*proposals)

    def _studies(self) -> None:
        rater, researcher = self.world.people["rater"], self.world.people["researcher"]
        assert rater is not None
        assert researcher is not None
        studies = self._each(
            Study,
            lambda n: {
                "slug": f"s{n}",
                "name": f"{n}",
                "corpus": self.world.corpus,
                "protocol": "matching",
            },
        )
        study = dict(zip(self.numbers, studies, strict=True))
        versions = self._each(
            StudyVersion,
            lambda n: {
                "study": study[n],
                "number": 1,
                "information": "x",
                "consent_number": 1,
                "created_by": self._user(n),
            },
        )
        newest = StudyVersion.objects.filter(study=OuterRef("pk")).values("pk")
        Study.objects.filter(pk__in=[own.pk for own in studies]).update(
            version=Subquery(newest), state="open"
        )
        for user, role in ((rater, Role.RATER), (researcher, Role.RESEARCHER)):
            self._each(
                Membership,
                lambda n, user=user, role=role: {"study": study[n], "user": user, "role": role},
            )
        self._each(
            StudyVersion,
            lambda n: {
                "study": self.study,
                "number": n,
                "information": "x",
                "consent_number": 1,
                "created_by": self._user(n),
            },
        )
        self._each(Exclusion, lambda n: {"study": self.study, "other": study[n]})
        mine = self._each(
            Participation, lambda n: {"study": study[n], "person": rater.account.person}
        )
        of = dict(zip(self.numbers, zip(mine, versions, strict=True), strict=True))
        self._each(Consent, lambda n: {"participation": of[n][0], "version": of[n][1]})
        self._each(
            Qualification, lambda n: {"channel": "local", "name": f"q{n}", "study": study[n]}
        )

    def _pages(self) -> None:
        """Those that wait for review, and those of the rater."""
        rater = self.world.people["rater"]
        assert rater is not None
        asked = Unit.objects.filter(study=self.study, gold__isnull=True).earliest("pk")
        for whose, state in ((None, "pending"), (rater.account, "used")):
            pages = self._each(Assignment, lambda n, w=whose, s=state: self._page(n, w, s))
            page = dict(zip(self.numbers, pages, strict=True))
            units = self._each(
                Unit,
                lambda n, state=state: {
                    "study": self.study,
                    "key": f"{state}{n}",
                    "pool": "candidate",
                    "payload": asked.payload,
                    "order_key": n,
                    "wanted": 1,
                    "counted": 1,
                },
            )
            unit = dict(zip(self.numbers, units, strict=True))
            slots = self._each(
                Slot,
                lambda n, page=page, unit=unit: {
                    "assignment": page[n],
                    "unit": unit[n],
                    "person": page[n].person,
                    "position": 1,
                    "state": "counted",
                },
            )
            slot = dict(zip(self.numbers, slots, strict=True))
            self._each(
                Judgment,
                lambda n, slot=slot: {"slot": slot[n], "answer": {"choice": "yes"}, "problem": "p"},
            )
            for kind in ("use", "payment"):
                self._each(
                    Decision,
                    lambda n, page=page, kind=kind: {
                        "assignment": page[n],
                        "kind": kind,
                        "value": "pending",
                        "reason": "x",
                        "by": self._user(n),
                    },
                )

    def _page(self, number: int, whose: Account | None, use: str) -> dict[str, Any]:
        account = whose or self.account[number]
        now = timezone.now()
        return {
            "study": self.study,
            "version": self.study.version,
            "account": account,
            "person": account.person,
            "state": "submitted",
            "submitted_at": now,
            "checked_at": now,
            "golds_shown": 1,
            "golds_failed": 1 if use == "pending" else 0,
            "use": use,
            "seed": number,
            "lease_until": now + timedelta(hours=1),
        }

    def _sales(self) -> None:
        published = self.world.publication
        self._each(
            Publication,
            lambda n: {
                "study": self.study,
                "channel": "local",
                "terms": published.terms,
                "reward": published.reward,
                "created_by": self._user(n),
            },
        )
        hits = self._each(
            Hit, lambda n: {"publication": published, "hit_id": f"H{n}", "state": "ended"}
        )
        hit = dict(zip(self.numbers, hits, strict=True))
        claims = self._each(
            Claim, lambda n: {"hit": hit[n], "ref": f"R{n}", "account": self.account[n]}
        )
        claim = dict(zip(self.numbers, claims, strict=True))
        self._each(
            Intent,
            lambda n: {
                "token": f"t{n}",
                "channel": "local",
                "action": "bonus",
                "request": {},
                "publication": published,
                "claim": claim[n],
                "by": self._user(n),
                "state": "refused",
                "settled_at": timezone.now(),
            },
        )

    def _made(self) -> None:
        releases = self._each(
            Release,
            lambda n: {
                "name": "grown",
                "major": n,
                "last_decision_id": 0,
                "manifest": {},
                "made_by": self._user(n),
            },
        )
        release = dict(zip(self.numbers, releases, strict=True))
        Release.studies.through.objects.bulk_create(
            Release.studies.through(release=each, study=self.study) for each in releases
        )
        self._each(
            ReleaseFile,
            lambda n: {"release": release[n], "name": "a.csv", "sha256": "0", "size": 1},
        )
        for kind, about in (
            ("release", {"study": self.study}),
            ("import", {"corpus": self.world.corpus}),
        ):
            self._each(
                Job,
                lambda n, about=about, kind=kind: {
                    "kind": kind,
                    "state": "done",
                    "asked_by": self._user(n),
                    **about,
                },
            )
        self._each(
            JudgmentImport,
            lambda n: {
                "study": self.study,
                "by": self._user(n),
                "file_name": "x.csv",
                "sha256": "0",
                "counts": dict.fromkeys(("added", "counted", "people", "refused"), 1),
            },
        )

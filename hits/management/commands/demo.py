"""Fill an installation with something to look at: a corpus, candidates, studies, answers."""

import tempfile
import time
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import get_random_string

from hits.demo import corpus as scenes
from hits.management.crowd import CAREFUL, CARELESS, QUICK, Manner, fill_in
from hits.management.trials import SECOND_RATER, open_trials
from hits.models import Account, Assignment, Corpus, Decision, Membership, Role, Study, User
from hits.pipeline import jobs
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.errors import NothingLeft
from hits.pipeline.load import load
from hits.pipeline.open import create_study, open_study
from hits.pipeline.people import account_of, give_consent
from hits.pipeline.review import decide, queue
from hits.pipeline.submit import submit

SEED = scenes.SEED
CROWD: list[tuple[str, Manner, int]] = [
    ("Ada", CAREFUL, 4),
    ("Bo", CAREFUL, 3),
    ("Cleo", QUICK, 4),
    ("Dan", CARELESS, 3),
    ("Eve", CARELESS, 3),
]
LOGINS = [
    ("rater", "Robin Rater", {}),
    (SECOND_RATER, "Romy Rater", {}),
    ("reviewer", "Rene Reviewer", {}),
    ("researcher", "Rosa Researcher", {"is_researcher": True}),
    ("admin", "Alex Admin", {"is_staff": True, "is_superuser": True}),
]


class Command(BaseCommand):
    help = "Make the demo: a corpus of rendered scenes, candidates, open studies, some answers."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--images", type=int, default=400, help="50 to 100,000; default 400")

    def handle(self, **options: Any) -> None:
        self.started = time.monotonic()
        password = _password()
        users = {role: _login(role, name, password, flags) for role, name, flags in LOGINS}
        filled = _scratch() / "demo-is-filled"
        if not (filled.exists() and Study.objects.exists()):
            self.fill(users, options["images"])
            filled.touch()
        self.stdout.write(_logins(password))

    def fill(self, users: dict[str, User], images: int) -> None:
        """Every step leaves alone what an earlier start, perhaps stopped half way, has done."""
        scenes_corpus = self.import_scenes(users["researcher"], images)
        photographs = self.import_photographs(users["researcher"])
        self.propose(scenes_corpus, train_split="train", query_sample=60)
        self.propose(photographs, train_split="test", query_sample=None)
        first = self.open(
            scenes_corpus, "scenes-image-to-caption", "Scenes: image to caption", "i2t", users
        )
        second = self.open(
            scenes_corpus,
            "scenes-caption-to-image",
            "Scenes: caption to image",
            "t2i",
            users,
            continues=first,
        )
        # With so few captions the machines find almost all originals; two of five stay golds.
        self.open(photographs, "photographs", "Photographs", "i2t", users, judged_depth=3)
        self.say("opening a small study of every other kind of question")
        open_trials([scenes_corpus, photographs], users, _scratch())
        self.say("people answer")
        _answer(first, CROWD)
        _answer(second, CROWD[:2])
        check_submitted(limit=1000)
        failed = queue(first).last()
        if failed is not None and not Decision.objects.filter(by=users["reviewer"]).exists():
            reason = "Answers look random; two seconds a question are too few to see the image."
            decide(
                assignment=failed,
                by=users["reviewer"],
                use="not_used",
                payment="approved",
                reason=reason,
            )

    def say(self, text: str) -> None:
        self.stderr.write(f"{time.monotonic() - self.started:5.1f} s  {text}")

    def import_scenes(self, owner: User, images: int) -> Corpus:
        corpus, _ = Corpus.objects.get_or_create(
            slug="scenes",
            defaults={"name": "Rendered scenes", "licence": "CC0 1.0", "owner": owner},
        )
        with tempfile.TemporaryDirectory(dir=_scratch()) as folder:
            self.say(f"drawing {images} scenes")
            scenes.write(Path(folder), images, SEED)
            self.say("importing them")
            load(corpus=corpus.slug, source=folder, progress=_unheard)
        return corpus

    def import_photographs(self, owner: User) -> Corpus:
        corpus, _ = Corpus.objects.get_or_create(
            slug="photographs",
            defaults={"name": "Photographs", "licence": "See its LICENCES.md", "owner": owner},
        )
        folder = str(files("hits.demo") / "photographs")
        load(corpus=corpus.slug, source=folder, split="test", progress=_unheard)
        return corpus

    def propose(self, corpus: Corpus, *, train_split: str, query_sample: int | None) -> None:
        for machine in ("palette", "layout"):
            self.say(f"the machine {machine} proposes candidates for {corpus.name.lower()}")
            arguments = {
                "corpus": corpus.pk,
                "machine": machine,
                "directions": ["i2t", "t2i"],
                "split": "test",
                "train_split": train_split,
                "query_sample": query_sample,
                "seed": SEED,
            }
            job = jobs.ask(kind="propose", arguments=arguments, by=None, corpus=corpus)
            jobs.run_here(job)

    def open(
        self,
        corpus: Corpus,
        slug: str,
        name: str,
        direction: str,
        users: dict[str, User],
        continues: Study | None = None,
        judged_depth: int = 5,
    ) -> Study:
        self.say(f"opening the study “{name}”")
        if (existing := Study.objects.filter(slug=slug).first()) is not None:
            return existing
        return _make_study(corpus, slug, name, direction, users, continues, judged_depth)


@transaction.atomic
def _make_study(
    corpus: Corpus,
    slug: str,
    name: str,
    direction: str,
    users: dict[str, User],
    continues: Study | None,
    judged_depth: int,
) -> Study:
    study = create_study(
        slug=slug,
        name=name,
        corpus=corpus,
        protocol_slug="matching",
        by=users["researcher"],
        settings={"justification": direction == "i2t", "judged_depth": judged_depth},
        pay="1.40" if direction == "i2t" else "0.65",
        expected_minutes=6 if direction == "i2t" else 3,
        seed=SEED,
    )
    study.proposals.set(corpus.proposals.filter(direction=direction))
    study.continues.set([continues] if continues else [])
    for role in (Role.RATER, Role.REVIEWER):
        Membership.objects.create(study=study, user=users[role], role=role)
    open_study(study=study)
    return study


def _unheard(done: int, total: int | None = None, message: str = "") -> None:
    """The command says what it does step by step; each step takes seconds."""


def _answer(study: Study, crowd: list[tuple[str, Manner, int]]) -> None:
    for name, manner, pages in crowd:
        account = _crowd_account(name, study)
        done = Assignment.objects.filter(study=study, account=account, state="submitted").count()
        for _ in range(done, pages):
            try:
                page = draw(study=study, account=account)
            except NothingLeft:
                return
            fields = fill_in(page, manner, corpus_seed=SEED)
            _let_time_pass(page, fields)
            submit(assignment_key=page.key, account=account, fields=fields)


def _let_time_pass(page: Assignment, fields: dict[str, list[str]]) -> None:
    """The crowd took the time it claims: its page was drawn that much earlier."""
    seconds = sum(float(v[0]) for name, v in fields.items() if name.endswith("-ms")) / 1000
    earlier = timezone.now() - timedelta(seconds=seconds)
    Assignment.objects.filter(pk=page.pk).update(drawn_at=earlier)


def _crowd_account(name: str, study: Study) -> Account:
    email = f"{name.lower()}@demo.example"
    user, _ = User.objects.get_or_create(
        username=email, defaults={"email": email, "first_name": name}
    )
    Membership.objects.get_or_create(study=study, user=user, role=Role.RATER)
    account = account_of(user)
    give_consent(study=study, account=account)
    return account


def _login(role: str, name: str, password: str, flags: dict[str, bool]) -> User:
    email = f"{role}@demo.example"
    first_name, _, last_name = name.partition(" ")
    user, _ = User.objects.get_or_create(
        username=email,
        defaults={"email": email, "first_name": first_name, "last_name": last_name, **flags},
    )
    if not user.check_password(password):
        user.set_password(password)
        user.save()
    return user


def _password() -> str:
    """One password for the demo's logins, made once and kept with the demo's data."""
    path = _scratch() / "demo-password"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(get_random_string(12))
    return path.read_text()


def _scratch() -> Path:
    folder = Path(settings.DATA_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _logins(password: str) -> str:
    lines = [f"  {role:<11} {role}@demo.example" for role, _, _ in LOGINS]
    return "\n".join(["Log in as", *lines, f"  with the password {password}"])

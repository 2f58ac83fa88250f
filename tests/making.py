"""Small real studies for tests, made through the pipeline as people make them."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from functools import cache
from io import BytesIO
from itertools import count
from pathlib import Path

from django.conf import settings
from django.utils import timezone
from PIL import Image as Picture

from hits.channels.contract import Terms
from hits.models import (
    Account,
    Assignment,
    Blob,
    Caption,
    Claim,
    ClaimState,
    Corpus,
    Hit,
    Image,
    Intent,
    Machine,
    Membership,
    Person,
    Publication,
    Release,
    Role,
    Study,
    Unit,
    UnitSource,
    User,
)
from hits.pipeline import propose, review
from hits.pipeline.draw import draw
from hits.pipeline.open import create_study, open_study
from hits.pipeline.people import account_of, give_consent
from hits.pipeline.submit import submit

_numbers = count(1)


def user(name: str = "", **values: object) -> User:
    name = name or f"user{next(_numbers)}"
    return User.objects.create_user(
        username=f"{name}@example.org",
        email=f"{name}@example.org",
        password="a good password",
        **values,
    )


@cache
@cache
def png(number: int) -> bytes:
    """A real picture of one colour."""
    colour = (number * 37 % 256, number * 91 % 256, number % 256)
    file = BytesIO()
    Picture.new("RGB", (64, 48), colour).save(file, "PNG")
    return file.getvalue()


def blobs(numbers: Iterable[int]) -> list[Blob]:
    made = [_stored(png(number)) for number in numbers]
    Blob.objects.bulk_create(made, ignore_conflicts=True)
    return made


def blob(number: int) -> Blob:
    (made,) = blobs([number])
    return made


def _stored(data: bytes) -> Blob:
    sha256 = hashlib.sha256(data).hexdigest()
    path = Path(settings.DATA_DIR) / "blobs" / sha256[:2] / sha256[2:]
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return Blob(pk=sha256, content_type="image/png", size=len(data), width=64, height=48)


def corpus(images: int = 30, captions_each: int = 2) -> Corpus:
    made = Corpus.objects.create(
        slug=f"corpus-{next(_numbers)}", name="A corpus", owner=user(is_researcher=True)
    )
    numbers = range(1, images + 1)
    pictures = Image.objects.bulk_create(
        Image(
            corpus=made,
            external_id=str(number),
            file_name=f"image_{number:012d}.png",
            split="test",
            blob=blob,
        )
        for number, blob in zip(numbers, blobs(numbers), strict=True)
    )
    Caption.objects.bulk_create(
        Caption(
            corpus=made,
            image=image,
            external_id=str(number * 10 + each),
            text=f"Caption {each} of image {number}.",
        )
        for number, image in zip(numbers, pictures, strict=True)
        for each in range(captions_each)
    )
    return made


def proposals(
    made: Corpus, machines: int = 2, depth: int = 25, name: str = "machine", direction: str = "i2t"
) -> list[int]:
    """Machines that rank all targets for each query, each in another order."""
    images = list(made.images.order_by("pk").values_list("pk", flat=True))
    captions = list(made.captions.order_by("pk").values_list("pk", flat=True))
    queries, targets_of = (images, captions) if direction == "i2t" else (captions, images)
    depth = min(depth, len(targets_of) - 5)
    found = []
    for number in range(machines):
        machine = propose.machine_of(
            name=f"{name}-{number}", version="1", kind="test", checksum="", settings={}
        )
        ranked = []
        for index, query in enumerate(queries):
            start = (index * 7 + number * 3 + 1) % len(targets_of)
            targets = [targets_of[(start + step) % len(targets_of)] for step in range(depth)]
            ranked.append((query, targets, [1 - step / 100 for step in range(depth)]))
        kept = propose.keep(
            corpus=made,
            machine=machine,
            direction=direction,
            split="test",
            depth=depth,
            query_sample=None,
            seed=0,
            ranked=ranked,
        )
        found.append(kept.pk)
    return found


def study(
    made: Corpus | None = None,
    *,
    settings: Mapping[str, object] | None = None,
    direction: str = "i2t",
    continues: Sequence[Study] = (),
    **values: object,
) -> Study:
    made = made or corpus()
    number = next(_numbers)
    created = create_study(
        slug=f"study-{number}",
        name=f"Study {number}",
        corpus=made,
        protocol_slug="matching",
        by=made.owner,
        settings=dict(settings or {}),
        **values,  # type: ignore[arg-type]
    )
    created.proposals.set(proposals(made, direction=direction))
    created.continues.set(continues)
    open_study(study=created)
    return created


def explain_golds(of: Study, words: Callable[[Unit], str]) -> None:
    """Every gold says why its answer is right."""
    for unit in Unit.objects.filter(study=of, gold__isnull=False):
        unit.gold = {**(unit.gold or {}), "explanation": words(unit)}
        unit.save(update_fields=["gold"])


def rater(of: Study, name: str = "") -> Account:
    """Somebody who joined the study and agreed to its information."""
    made = user(name)
    Membership.objects.create(study=of, user=made, role=Role.RATER)
    account = account_of(made)
    give_consent(study=of, account=account)
    return account


def answers(positions: int, choice: str = "yes") -> dict[str, list[str]]:
    return {f"q{position}-choice": [choice] for position in range(1, positions + 1)}


def truthful(assignment: Assignment, choice: str = "yes") -> dict[str, list[str]]:
    """Every gold as expected, one choice for all the rest."""
    fields = {}
    for slot in assignment.slots.select_related("unit"):
        gold = slot.unit.gold
        fields[f"q{slot.position}-choice"] = [
            choice if gold is None else "yes" if gold["positive"] else "no"
        ]
    return fields


def work(of: Study, account: Account, choice: str = "yes") -> Assignment:
    """Draw a page, answer it well and submit it."""
    page = draw(study=of, account=account)
    submit(assignment_key=page.key, account=account, fields=truthful(page, choice))
    return page


def name_proposer(study: Study, name: str) -> None:
    """Call a machine so that proposed something which was answered."""
    answered = Unit.objects.filter(study=study, gold__isnull=True, slots__state="counted")
    source = UnitSource.objects.filter(unit__in=answered).order_by("pk")[0]
    Machine.objects.filter(proposals=source.proposal_id).update(name=name)


def refuse(page: Assignment, by: User, reason: str, *, use: str = "not_used") -> None:
    """Refuse payment, as one may who has looked at the whole page and knows what it costs."""
    review.look(assignment=page, by=by, positions=range(1, page.slots.count() + 1))
    loss = review.loss_of(page).pay
    review.decide(assignment=page, by=by, use=use, payment="refused", reason=reason, loss=loss)


def released(of: Study) -> Release:
    """A release with one file, beside another that is no part of it."""
    made = Release.objects.create(
        name="eccv",
        major=1,
        last_decision_id=0,
        manifest={"release": "eccv"},
        made_by=of.corpus.owner,
    )
    made.studies.add(of)
    folder = Path(settings.DATA_DIR) / "releases" / "eccv" / "1"
    folder.mkdir(parents=True)
    (folder / "judgments.csv").write_text("a,b\n")
    (folder / "unlisted.txt").write_text("not part of it")
    made.files.create(name="judgments.csv", sha256="0" * 64, size=4)
    return made


TERMS = Terms(
    title="Does the text fit the image?",
    description="Judge pairs of images and texts.",
    keywords="image, text",
    reward=Decimal("0.65"),
    duration=timedelta(minutes=60),
    lifetime=timedelta(days=3),
    auto_approval=timedelta(days=3),
)


def publication(
    of: Study, *, channel: str = "local", hits: int = 0, **values: object
) -> Publication:
    """As the pipeline would have left it, with no marketplace asked."""
    made = Publication.objects.create(
        study=of,
        channel=channel,
        terms=TERMS.as_json(),
        hit_type_id=f"TYPE{next(_numbers)}",
        created_by=of.corpus.owner,
        **{"reward": Decimal("0.65"), **values},
    )
    for _ in range(hits):
        hit(made)
    return made


def hit(of: Publication, state: str = "live") -> Hit:
    return Hit.objects.create(
        publication=of,
        state=state,
        hit_id="" if state == "meant" else f"HIT{next(_numbers)}",
        expires_at=timezone.now() + timedelta(days=7),
    )


def offered(of: Study, channel: str = "local") -> Hit:
    """A HIT that is live at a marketplace, of a publication of its own."""
    return hit(publication(of, channel=channel))


def worker(channel: str = "local") -> Account:
    return Account.objects.create(
        person=Person.objects.create(), channel=channel, external_id=f"A{next(_numbers):05d}"
    )


THEIRS = {
    ClaimState.CONFIRMED: "submitted",
    ClaimState.NO_ANSWERS: "submitted",
    ClaimState.PAID: "approved",
    ClaimState.REFUSED: "rejected",
}
UNANSWERED = {ClaimState.ACCEPTED, ClaimState.LEFT, ClaimState.NO_ANSWERS}
ENDED = {ClaimState.LEFT, ClaimState.NOT_HANDED_OVER, *THEIRS}


def claim(
    of: Publication,
    state: str = ClaimState.CONFIRMED,
    *,
    account: Account | None = None,
    approves_in: timedelta = timedelta(days=3),
    page: Assignment | None = None,
) -> Claim:
    """A worker's claim on a HIT of its own that has come this far."""
    account = account or (page.account if page else worker(of.channel))
    now = timezone.now()
    theirs = THEIRS.get(ClaimState(state), "")
    if page is None and state != ClaimState.NO_ANSWERS:
        page = _page_without_questions(of, account, ClaimState(state))
    return Claim.objects.create(
        hit=hit(of, "ended" if state in ENDED else "live"),
        ref=f"ASSIGNMENT{next(_numbers)}",
        account=account,
        assignment=page,
        reserves=True,
        handed_over_at=now if state == ClaimState.HANDED_OVER or theirs else None,
        confirmed_at=now if theirs else None,
        theirs=theirs,
        submitted_there_at=now if theirs else None,
        auto_approval_at=now + approves_in if theirs else None,
    )


def _page_without_questions(of: Publication, account: Account, state: ClaimState) -> Assignment:
    assert of.study.version is not None
    is_submitted = state not in UNANSWERED
    ending = "expired" if state == ClaimState.LEFT else "open"
    return Assignment.objects.create(
        study=of.study,
        version=of.study.version,
        account=account,
        person=account.person,
        state="submitted" if is_submitted else ending,
        submitted_at=timezone.now() if is_submitted else None,
        use="not_used" if state == ClaimState.NOT_HANDED_OVER else "pending",
        seed=0,
        lease_until=timezone.now() + timedelta(hours=1),
    )


def settled(of: Publication, action: str, **values: object) -> Intent:
    """A call that the marketplace has done."""
    return Intent.objects.create(
        token=f"settled-{next(_numbers)}",
        channel=of.channel,
        action=action,
        publication=of,
        **{"request": {}, "state": "done", "settled_at": timezone.now(), **values},
    )

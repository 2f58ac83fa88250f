"""People for the demo, who know the truth of rendered scenes and heed it more or less."""

from dataclasses import dataclass
from random import Random

from hits.demo.corpus import truth
from hits.models import Assignment, Caption, Image, Slot
from hits.protocols.matching import CHOICES, JUSTIFIED


@dataclass(frozen=True, slots=True)
class Manner:
    """How often somebody guesses, or slips to a neighbouring choice, and how long they take."""

    guesses: float
    slips: float
    seconds: float


CAREFUL = Manner(guesses=0.0, slips=0.04, seconds=11)
QUICK = Manner(guesses=0.03, slips=0.12, seconds=6)
CARELESS = Manner(guesses=0.85, slips=0.1, seconds=2)


def fill_in(page: Assignment, manner: Manner, *, corpus_seed: int) -> dict[str, list[str]]:
    """The form of a page as such a person would send it."""
    random = Random(page.seed)
    fields: dict[str, list[str]] = {"device": ["keyboard"]}
    for position, image, caption in _pairs(page):
        answer = _answer(image, caption, manner, random, corpus_seed)
        milliseconds = random.lognormvariate(0, 0.5) * manner.seconds * 1000
        fields[f"q{position}-ms"] = [str(round(milliseconds))]
        fields |= {f"q{position}-{name}": values for name, values in answer.items()}
    return fields


def _pairs(page: Assignment) -> list[tuple[int, int, int]]:
    slots = list(
        Slot.objects.filter(assignment=page)
        .order_by("position")
        .values_list("position", "unit__payload__image", "unit__payload__caption")
    )
    images = Image.objects.in_bulk([image for _, image, _ in slots])
    captions = Caption.objects.in_bulk([caption for _, _, caption in slots])
    return [
        (position, int(images[image].external_id), int(captions[caption].external_id))
        for position, image, caption in slots
    ]


def _answer(
    image: int, caption: int, manner: Manner, random: Random, corpus_seed: int
) -> dict[str, list[str]]:
    known = truth(corpus_seed, image, caption)
    choice = _heeded(known.choice, manner, random)
    if choice not in JUSTIFIED:
        return {"choice": [choice]}
    reasons = [str(reason) for reason in sorted(known.reasons)] or ["grammar"]
    errors = [str(error) for error in sorted(known.errors)] or ["quantity"]
    return {"choice": [choice], "reasons": reasons} | (
        {"errors": errors, "other": ["size"]} if "wrong" in reasons else {}
    )


def _heeded(choice: str, manner: Manner, random: Random) -> str:
    if random.random() < manner.guesses:
        return random.choice(CHOICES)
    if random.random() < manner.slips:
        place = CHOICES.index(choice) + random.choice([-1, 1])
        return CHOICES[max(0, min(place, len(CHOICES) - 1))]
    return choice

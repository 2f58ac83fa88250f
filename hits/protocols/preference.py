"""Preference between systems: which of two rankings of images under a caption, or of two texts
under an image, is better? ECCV Caption compares five rankings with it (App. D.1)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, model_validator

from hits.exporters.streams import as_csv
from hits.protocol import (
    GOLD,
    UNIT,
    CaptionRef,
    FieldErrors,
    Fits,
    Frozen,
    ImageRef,
    PagedProtocol,
    PageSettings,
    Report,
    Row,
    Source,
    explained,
    register,
)
from hits.records import (
    Aggregate,
    Fields,
    Items,
    Json,
    JudgedUnit,
    Option,
    ReleaseSource,
    Tallied,
    UnitDraft,
    UnitSource,
)
from hits.sampling.rankings import FEWEST, MOST, SYSTEMS, comparisons
from hits.sides import (
    SIDES,
    TIE,
    UNDECIDED,
    SystemName,
    arranged,
    as_shown,
    chosen,
    most_chosen,
    place_of,
    said_of,
    ways_to_choose,
)

# One caption in five at most serves as a gold.
CAPTIONS_A_GOLD = 5
BEST, WORST = "A", "E"

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=5000)]


class Settings(PageSettings):
    units_a_page: int = Field(
        39,
        ge=1,
        le=200,
        title="Questions on a page",
        description="Besides the golds; 40 with them in the paper.",
    )
    ties: bool = Field(
        False,
        title="Allow ties",
        description="A third answer: both are as good as each other. Off in the paper.",
    )
    equal_outputs: bool = Field(
        True,
        title="Ask also where both show the same",
        description="As in the paper, where two rankings of a caption with five positives are the "
        "same. What is said of a system and itself is counted, and left out of the fit.",
    )
    captions: int = Field(
        40,
        ge=0,
        le=1_000_000,
        title="Captions that rankings are made for",
        description=f"Drawn from those with {FEWEST} to {MOST} positives in the studies that feed "
        "this one; 40 in the paper. 0: all of them.",
    )
    gold_captions: int = Field(
        4,
        ge=0,
        le=1000,
        title="Captions set aside for golds",
        description="Their best ranking is shown against the one that is all wrong. "
        "At most a fifth of the captions there are.",
    )
    originals_are_positive: bool = Field(
        True,
        title="A caption’s own image counts as positive",
        description="Unless people said no to it.",
    )
    wrong_from_corpus: bool = Field(
        False,
        title="Wrong images from the whole corpus",
        description="Any image that is no positive of the caption. Otherwise only images that "
        "people said no to, and captions that have too few of them are left out.",
    )


class Example(Frozen):
    caption: str = Field(title="What is shown", examples=["“A cup of coffee.” First: …"])
    answer: str = Field(title="Right answer", examples=["The first"])
    explanation: str = Field(title="Why", examples=["Nearly all its images show a cup of coffee."])
    image_url: str = Field(
        "",
        title="Image",
        description="An address that begins with https://, or a file of this site.",
        examples=["examples/coffee.jpg"],
    )


EXAMPLES = [
    Example(
        caption="“A cup of coffee on a saucer.” First: a teapot, then five cups of coffee. "
        "Second: six images of bicycles.",
        answer="The first",
        explanation="Only its first image is wrong; of the second, nothing fits.",
    ),
    Example(
        caption="“Two dogs on a beach.” First: a lake, a tent, a boat, then two dogs on a beach. "
        "Second: two dogs on a beach, then three images of cats.",
        answer="The second",
        explanation="Both have one image that fits, and here it stands at the top.",
    ),
]


class Wording(Frozen):
    intro: str = Field(
        "You see what two systems gave. Under a caption these are two lists of images, the best "
        "match first; under an image, two texts. Look at both as a whole and choose the one that "
        "looks more correct. An image becomes larger when you click on it.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    question: str = Field("Which of the two looks more correct?", title="Question")
    sides: dict[str, str] = Field(
        {"left": "First", "right": "Second"},
        title="Heading",
        description="Over what each of the two systems gave.",
    )
    choices: dict[str, str] = Field(
        {
            "left": "The first",
            "right": "The second",
            "tie": "Both are as good as each other",
        },
        title="Answer",
        description="As the rater reads it; what is stored is the system.",
    )
    choice_help: dict[str, str] = Field(
        {
            "left": "More of it fits, or what fits stands further up.",
            "right": "More of it fits, or what fits stands further up.",
            "tie": "You would not miss either.",
        },
        title="What the answer means",
        description="In the instructions.",
    )
    examples: list[Example] = Field(
        EXAMPLES, title="Example", description="They stand in the instructions, in this order."
    )


class PreferenceRow(Row):
    """What systems gave for a caption (images, the best first) or for an image (a text each)."""

    caption: CaptionRef | None = None
    image: ImageRef | None = None
    outputs: dict[SystemName, Text | Annotated[list[ImageRef], Field(min_length=1, max_length=50)]]
    gold: SystemName | None = Field(
        None, description="The system that is clearly better than each of the others."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.caption is None) == (self.image is None):
            raise ValueError("Name either a caption or an image.")
        if len(self.outputs) < 2:
            raise ValueError("Give the outputs of at least two systems.")
        wanted = list if self.image is None else str
        if not all(isinstance(output, wanted) for output in self.outputs.values()):
            raise ValueError("Outputs are lists of images for a caption, texts for an image.")
        if {TIE, UNDECIDED} & set(self.outputs):
            raise ValueError("No system can be called “tie” or “undecided”.")
        if self.gold is not None and self.gold not in self.outputs:
            raise ValueError("The gold is one of the systems.")
        return self


@register
class Preference(PagedProtocol[Settings, Wording]):
    slug = "preference"
    tells_what_was_shown = True
    judgments_wanted = 8
    name = "Preference between systems"
    description = (
        "Which of two systems did better: rankings of images under a caption, as in ECCV "
        "Caption’s metric study, or texts under an image."
    )
    template = "protocols/preference.html"
    styles = ("css/sides.css",)
    settings_model = Settings
    wording_model = Wording
    sources = frozenset({Source.STUDIES, Source.ROWS})
    feeders = frozenset({"matching"})
    row_model = PreferenceRow
    specimens = (
        {
            "caption": 1,
            "outputs": [
                {"system": "one", "images": [1, 2, 3, 4, 5]},
                {"system": "two", "images": [5, 4, 3, 2, 6]},
            ],
        },
        {
            "image": 2,
            "outputs": [
                {"system": "one", "text": "A man looks through a camera on a tripod."},
                {"system": "two", "text": "A woman walks a dog in the park."},
            ],
        },
    )
    columns = ("chosen",)
    reports = frozenset({Report.COMPARISONS})
    places = 2

    def units(self, source: UnitSource, settings: Settings, random: Random) -> Iterator[UnitDraft]:
        for row in source.rows():
            made = list(_of_row(row, settings))
            if not made:
                source.leave_out("the systems gave the same")
            yield from made
        yield from _of_positives(source, settings, random)

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        images = [image for output in payload["outputs"] for image in output.get("images", [])]
        if "image" in payload:
            return [payload["image"]], []
        return images, [payload["caption"]]

    def arrange(self, payload: Json, turn: int, random: Random) -> Json:
        return arranged(payload["outputs"], turn)

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        sides = [
            {"side": side, "text": output["text"]}
            if "text" in output
            else {"side": side, "images": [items.images[image] for image in output["images"]]}
            for side, output in zip(SIDES, as_shown(payload["outputs"], shown), strict=True)
        ]
        if "image" in payload:
            return {"image": items.images[payload["image"]], "sides": sides}
        return {"caption": items.captions[payload["caption"]], "sides": sides}

    def form(self, settings: Settings, wording: Wording) -> Mapping[str, list[Option]]:
        values = [*SIDES, TIE] if settings.ties else SIDES
        return {
            "choices": [
                Option(value, wording.choices[value], key, wording.choice_help[value])
                for value, key in zip(values, "123", strict=False)
            ]
        }

    def parse(self, fields: Fields, payload: Json, shown: Json | None, settings: Settings) -> Json:
        system = chosen(fields, payload["outputs"], shown, ties=settings.ties)
        if system is None:
            raise FieldErrors({"choice": "Choose one of the answers."})
        return {"chosen": system}

    def ways(
        self, payload: Json, shown: Json | None, settings: Settings, random: Random
    ) -> Sequence[Fields]:
        return ways_to_choose(payload["outputs"], shown, ties=settings.ties)

    def truth(self, payload: Json, fits: Fits) -> float | None:
        """The ranking with more of the caption's images further up; even, where there are none."""
        if "caption" not in payload:
            return None
        one, two = (
            _gained(output["images"], payload["caption"], fits) for output in payload["outputs"]
        )
        return None if one is None or two is None or one == two else float(two > one)

    def place(self, answer: Json, shown: Json | None) -> int | None:
        return place_of(answer, shown)

    def check(self, answer: Json, gold: Json) -> bool:
        return bool(answer["chosen"] == gold["chosen"])

    def gold_of(self, answers: Sequence[Json]) -> tuple[str, Json] | None:
        label = most_chosen(answers).label
        return None if label == UNDECIDED else (GOLD, {"chosen": label})

    def describe(self, answer: Json, wording: Wording) -> str:
        return wording.choices[TIE] if answer["chosen"] == TIE else f"System {answer['chosen']}"

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        return most_chosen(answers)

    def tallies(self, settings: Settings, wording: Wording) -> Sequence[Tallied]:
        return [Tallied("chosen", wording.question)]

    def export(self, source: ReleaseSource, settings: Settings) -> Mapping[str, Iterable[str]]:
        """Every answer with its two systems as they were shown, and who won how often."""
        return {
            "preference.csv": as_csv(COLUMNS, _compared(source.units())),
            "win_matrix.csv": _win_matrix(source),
        }

    def row(self, answer: Json) -> Sequence[Any]:
        return (answer["chosen"],)


def _gained(images: Sequence[int], caption: int, fits: Fits) -> float | None:
    """How well images fit, those further up counting more."""
    known = [fits(image, caption) for image in images]
    return None if None in known else sum((fit or 0) / n for n, fit in enumerate(known, 1))


COLUMNS = ("caption_id", "image_id", "system_1", "system_2", "left", "right", "chosen")


def _compared(units: Iterable[JudgedUnit]) -> Iterator[Sequence[str]]:
    for unit in units:
        caption = unit.captions[0].id if unit.captions else ""
        image = "" if unit.captions else unit.images[0].id
        systems = [output["system"] for output in unit.payload["outputs"]]
        for said in said_of(unit):
            yield caption, image, *systems, *said


def _win_matrix(source: ReleaseSource) -> Iterator[str]:
    """A row of each system: how often it was preferred to each of the others. Where a system was
    compared with itself, how often that was."""
    wins: Counter[tuple[str, str]] = Counter()
    names: set[str] = set()
    for unit in source.units():
        for left, right, preferred in said_of(unit):
            names |= {left, right}
            if preferred != TIE:
                wins[preferred, right if preferred == left else left] += 1
    systems = sorted(names)
    rows = ([one, *(wins[one, two] for two in systems)] for one in systems)
    yield from as_csv(["preferred", *systems], rows)


def _of_row(row: Json, settings: Settings) -> Iterator[UnitDraft]:
    about = "caption" if row.get("caption") is not None else "image"
    kind = "images" if about == "caption" else "text"
    gold = row.get("gold")
    for one, two in combinations(sorted(row["outputs"]), 2):
        if gold not in (None, one, two):
            continue
        outputs = [{"system": name, kind: row["outputs"][name]} for name in (one, two)]
        known = None if gold is None else explained({"chosen": gold}, row)
        yield from _unit(about, row[about], f"{one}:{two}", outputs, known, settings)


def _unit(
    about: str, item: int, pair: str, outputs: list[Json], gold: Json | None, settings: Settings
) -> Iterator[UnitDraft]:
    one, two = ({**output, "system": ""} for output in outputs)
    if one == two and not settings.equal_outputs:
        return
    payload = {about: item, "outputs": outputs}
    key = f"{about[0]}{item}:{pair}"
    yield UnitDraft(key, UNIT if gold is None else GOLD, payload, gold)


@dataclass
class _Judged:
    """Of a caption: the images that fit and those that do not."""

    right: list[int] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)


def _of_positives(source: UnitSource, settings: Settings, random: Random) -> Iterator[UnitDraft]:
    judged: dict[int, _Judged] = defaultdict(_Judged)
    for unit in source.judged():
        own = judged[unit.payload["caption"]]
        (own.right if unit.aggregate.positive else own.wrong).append(unit.payload["image"])
    if not judged:
        return
    corpus = _look_into_corpus(source, judged, settings)
    # What is drawn for a caption depends on no other: when more of them are finished, those that
    # were drawn before come out alike.
    seed = random.random()
    rankable = []
    for caption, own in judged.items():
        by_caption = Random(f"{seed}:{caption}")
        place = by_caption.random()
        right, wrong = _drawn(own, corpus, settings, by_caption)
        if FEWEST <= len(right) <= MOST and len(right) == len(wrong):
            rankable.append((place, caption, right, wrong))
    rankable.sort()
    golds = min(settings.gold_captions, len(rankable) // CAPTIONS_A_GOLD)
    for _, caption, right, wrong in rankable[:golds]:
        yield from _pairs(caption, right, wrong, settings, is_gold=True)
    for _, caption, right, wrong in rankable[golds:][: settings.captions or None]:
        yield from _pairs(caption, right, wrong, settings, is_gold=False)


def _look_into_corpus(
    source: UnitSource, judged: Mapping[int, _Judged], settings: Settings
) -> list[int]:
    """The corpus's images, where wrong ones come from there. Captions get their own images."""
    found = []
    if settings.wrong_from_corpus or settings.originals_are_positive:
        for image in source.images():
            found.append(image.id)
            for caption in image.captions if settings.originals_are_positive else ():
                own = judged.get(caption)
                if own is not None and image.id not in own.wrong:
                    own.right.append(image.id)
    return found


def _drawn(
    own: _Judged, corpus: Sequence[int], settings: Settings, random: Random
) -> tuple[list[int], list[int]]:
    """The positives in an order of chance, and as many wrong images as there are, or fewer."""
    right = set(own.right)
    among = corpus if settings.wrong_from_corpus else sorted(set(own.wrong))
    drawn = random.sample(among, min(len(among), 2 * len(right)))
    wrong = [image for image in drawn if image not in right]
    return random.sample(sorted(right), len(right)), wrong[: len(right)]


def _pairs(
    caption: int, right: Sequence[int], wrong: Sequence[int], settings: Settings, *, is_gold: bool
) -> Iterator[UnitDraft]:
    """All ten pairs of the five rankings, or as a gold the best against the worst."""
    pairs = zip(combinations(SYSTEMS, 2), comparisons(right, wrong), strict=True)
    for letters, shown in pairs:
        if is_gold and letters != (BEST, WORST):
            continue
        outputs = [{"system": name, "images": list(images)} for name, images in shown]
        gold = {"chosen": BEST} if is_gold else None
        yield from _unit("caption", caption, ":".join(letters), outputs, gold, settings)

"""Crisscrossed Captions' three similarities: of texts, of images, of an image and a text."""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from random import Random
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from pydantic import Field, model_validator

from hits.exporters.formats import Kind
from hits.exporters.streams import as_csv, as_json_object, numbers_first
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
    only,
    register,
)
from hits.records import (
    Aggregate,
    Candidate,
    Fields,
    Items,
    Json,
    JudgedUnit,
    Option,
    OutsideCaption,
    OutsideImage,
    ReleaseSource,
    Tallied,
    UnitDraft,
    UnitSource,
)
from hits.sampling.crossed import (
    Rated,
    c2c_cocaption,
    c2c_isim,
    c2i_intrasim,
    c2i_original,
    i2i_csim,
)

ANCHORS = ("0", "1", "2", "3", "4", "5")
LOWEST, HIGHEST = 0, 5
HALF_POINTS = 10
MOVED = {"pointer": "Pointer", "touch": "Touch", "key": "Keys"}
LONGEST_COMMENT = 2000
HUNDREDTH = Decimal("0.01")
EXAMPLE_IMAGE = "examples/coffee.jpg"
_NUMBER = re.compile(r"[0-9](\.[0-9]{1,20})?")
_NOT_IN_A_NAME = re.compile(r"[^\w.+-]")

C2C_ISIM, C2C_COCAPTION = "c2c_isim", "c2c_cocaption"
I2I_CSIM = "i2i_csim"
C2I_INTRASIM, C2I_ORIGINAL = "c2i_intrasim", "c2i_original"


# Rows


class Band(Frozen):
    """The scores that are right for a gold."""

    low: float = Field(ge=LOWEST, le=HIGHEST)
    high: float = Field(ge=LOWEST, le=HIGHEST)

    @model_validator(mode="after")
    def _is_a_band(self) -> Self:
        if self.low > self.high:
            raise ValueError("The low end of the band is above its high end.")
        return self


class PairRow(Row):
    sampling_method: str = Field("uploaded", pattern=r"^[A-Za-z0-9_.-]{1,40}$")
    gold: Band | None = None


class TextsRow(PairRow):
    caption1: CaptionRef
    caption2: CaptionRef


class ImagesRow(PairRow):
    image1: ImageRef
    image2: ImageRef


class ImageTextRow(PairRow):
    caption: CaptionRef
    image: ImageRef


# Settings

_CAPTION_NAMES: Any = Field(
    "{id}",
    pattern=r"\{id\}",
    max_length=100,
    title="Names of captions in the release",
    description="“{id}” stands for the caption’s outside id.",
    examples=["COCO_val2014:sentid:{id}"],
)
_IMAGE_NAMES: Any = Field(
    "{file}",
    pattern=r"\{(file|id)\}",
    max_length=100,
    title="Names of images in the release",
    description="“{file}” stands for the file’s name, or the outside id of an image that has none; "
    "“{id}” for the outside id.",
    examples=["{file}"],
)
_NEAREST: Any = Field(
    5,
    ge=1,
    le=100,
    title="Nearest images that are paired",
    description="Of each image’s list by each machine; 5 in the paper.",
)


class TextsSettings(PageSettings):
    nearest: int = _NEAREST
    cocaptions: bool = Field(
        False,
        title="Ask about captions of one image",
        description="Besides pairs of similar images’ captions: each caption of an image with two "
        "others of it, in a ring, as in the paper.",
    )
    comment: bool = Field(
        True, title="Leave room for a comment", description="Under the scale; never required."
    )
    caption_names: str = _CAPTION_NAMES


class ImagesSettings(PageSettings):
    nearest: int = _NEAREST
    image_names: str = _IMAGE_NAMES


class ImageTextSettings(PageSettings):
    chosen_pairs: int = Field(
        20_000,
        ge=0,
        le=1_000_000,
        title="Pairs chosen by ratings",
        description="Half by the ratings of texts, half by those of images, best first, from the "
        "studies that feed this one.",
    )
    originals: bool = Field(
        False,
        title="Ask about the corpus’s own pairs",
        description="Every caption with its own image, as in the paper.",
    )
    caption_names: str = _CAPTION_NAMES
    image_names: str = _IMAGE_NAMES


# Wording


class Example(Frozen):
    caption: str = Field(title="First", description="A text, or what an image shows.")
    second: str = Field("", title="Second", description="What it is compared with.")
    answer: str = Field(title="Right answer", examples=["A little above “Mostly equivalent”"])
    explanation: str = Field(title="Why")
    image_url: str = Field(
        "",
        title="Image",
        description="An address that begins with https://, or a file of this site.",
        examples=[EXAMPLE_IMAGE],
    )


TIPS = (
    "Judge what is meant, not how alike the two look or sound at first. "
    "Use the whole scale. If you hesitate between two descriptions, stop somewhere between them, "
    "nearer to the one that fits better: there is no need to hit a mark. "
    "Your first good impression is what counts; do not brood over small steps."
)


class Wording(Frozen):
    intro: str
    details: str
    question: str
    anchors: dict[str, str]
    anchor_help: dict[str, str]
    examples: list[Example]

    @model_validator(mode="after")
    def _describes_all(self) -> Self:
        if {*self.anchors} != {*ANCHORS} or {*self.anchor_help} != {*ANCHORS}:
            raise ValueError("There are six descriptions, called 0 to 5.")
        return self


def _intro(text: str) -> Any:
    description = "Stand above the examples, and open before the first page."
    return Field(text, title="Instructions", description=description)


def _details(text: str) -> Any:
    description = "Folded, under the others."
    return Field(f"{text} {TIPS}", title="Detailed instructions", description=description)


def _question(text: str) -> Any:
    return Field(text, title="Question over the scale")


def _anchors(*texts: str) -> Any:
    labels = dict(zip(ANCHORS, texts, strict=True))
    return Field(labels, title="Description", description="Along the scale.")


def _anchor_help(*texts: str, where: str = "In the instructions.") -> Any:
    helps = dict(zip(ANCHORS, texts, strict=True))
    return Field(helps, title="Description at length", description=where)


def _examples(*examples: Example) -> Any:
    description = "They stand in the instructions, in this order."
    return Field(list(examples), title="Example", description=description)


class TextsWording(Wording):
    intro: str = _intro(
        "You see two short texts. Say how similar they are in meaning by putting the slider where "
        "you think they belong."
    )
    details: str = _details(
        "Ask yourself whether both speak of the same people, things, actions and places. "
        "The same meaning can be said in very different words, and nearly the same words can mean "
        "something else. Slips of spelling and clumsy wording do not matter."
    )
    question: str = _question("How similar are the two texts in meaning?")
    anchors: dict[str, str] = _anchors(
        "On different topics",
        "Not equivalent, but on the same topic",
        "Not equivalent, but some details are shared",
        "Roughly equivalent, but something important differs",
        "Mostly equivalent, only small details differ",
        "Completely equivalent",
    )
    anchor_help: dict[str, str] = _anchor_help(
        "The texts have nothing to do with each other.",
        "They speak of the same kind of thing, but say different things of it.",
        "They say different things, and some of the details are the same.",
        "They say about the same, but something that matters is different or missing.",
        "They say the same but for details that do not matter.",
        "They mean the same thing.",
    )
    comment: str = Field("Comment (optional)", title="Label of the comment")
    examples: list[Example] = _examples(
        Example(
            caption="A boy kicks a ball across the lawn.",
            second="A ball is kicked over the grass by a boy.",
            answer="Completely equivalent",
            explanation="Other words, the same meaning.",
        ),
        Example(
            caption="A boy kicks a ball across the lawn.",
            second="Two girls throw a ball on a lawn.",
            answer="A little above “Some details are shared”",
            explanation="The ball and the lawn are shared; who plays and how is not.",
        ),
        Example(
            caption="A boy kicks a ball across the lawn.",
            second="A plate of pancakes with syrup.",
            answer="On different topics",
            explanation="Nothing is shared.",
        ),
    )


class ImagesWording(Wording):
    intro: str = _intro(
        "You see two images. Say how similar the scenes are by putting the slider where you think "
        "they belong."
    )
    details: str = _details(
        "Ask yourself whether both images show the same kinds of people, things, actions and "
        "places. Two photographs can look alike and show different things, and the same scene can "
        "look different from another side."
    )
    question: str = _question("How similar are the two scenes?")
    anchors: dict[str, str] = _anchors(
        "Completely dissimilar",
        "Loosely related in theme",
        "Some details shared",
        "Roughly equivalent",
        "Mostly equivalent",
        "Near duplicates",
    )
    anchor_help: dict[str, str] = _anchor_help(
        "The scenes have nothing to do with each other.",
        "The scenes differ, but their theme is loosely the same.",
        "The scenes differ, but share some kinds of people, actions, things or places.",
        "The scenes are about the same, but something that matters differs or is "
        "missing: who is there, what is done, the things or the place.",
        "The scenes are the same but for what does not matter: other people, things or "
        "places of the same kind.",
        "It is nearly the same scene, perhaps seen from another side.",
    )
    examples: list[Example] = _examples(
        Example(
            caption="A brown dog asleep on a sofa.",
            second="A black dog asleep on an armchair.",
            answer="Near “Mostly equivalent”",
            explanation="Another dog and another seat, but the same scene.",
        ),
        Example(
            caption="A brown dog asleep on a sofa.",
            second="A cat walks past a sofa.",
            answer="Near “Some details shared”",
            explanation="A pet and a sofa, but another animal that does something else.",
        ),
        Example(
            caption="A brown dog asleep on a sofa.",
            second="Sailing boats in a harbour.",
            answer="Completely dissimilar",
            explanation="Nothing is shared.",
        ),
    )


class ImageTextWording(Wording):
    intro: str = _intro(
        "You see an image and a text. Say how well they match by putting the slider where you "
        "think they belong."
    )
    details: str = _details(
        "Ask yourself whether the text speaks of the people, things, actions and places that the "
        "image shows. Small words can matter much. Slips of spelling and clumsy wording do not."
    )
    question: str = _question("How well do the image and the text match?")
    anchors: dict[str, str] = _anchors(
        "Completely unmatched",
        "Loosely related in theme",
        "Some details shared",
        "Roughly matched",
        "Mostly matched",
        "Perfectly matched",
    )
    anchor_help: dict[str, str] = _anchor_help(
        "The image and the text have nothing to do with each other.",
        "The text does not match the image, but their theme is loosely the same.",
        "The text does not match the image, but they share some kinds of people, "
        "actions, things or places.",
        "The text matches roughly, but something that matters differs or is missing: "
        "who is there, what is done, the things or the place. It does not describe the image.",
        "The text matches but for what does not matter: other people, things or places "
        "of the same kind. It describes a part of the image.",
        "The text is an almost perfect description of the image.",
        where="On hover and on focus, and in the instructions.",
    )
    examples: list[Example] = _examples(
        Example(
            caption="A cup of coffee with a spoon on a red saucer.",
            answer="Perfectly matched",
            explanation="All of it is in the image, and it says what the image shows.",
            image_url=EXAMPLE_IMAGE,
        ),
        Example(
            caption="Two cups of tea on a breakfast table.",
            answer="Between “Some details shared” and “Roughly matched”",
            explanation="A hot drink on a table, but there is one cup, and it is coffee.",
            image_url=EXAMPLE_IMAGE,
        ),
        Example(
            caption="A train leaves the station.",
            answer="Completely unmatched",
            explanation="Nothing of it is in the image.",
            image_url=EXAMPLE_IMAGE,
        ),
    )


# The protocols

Own = TypeVar("Own", bound=PageSettings)
Said = TypeVar("Said", bound=Wording)


class Similarity(PagedProtocol[Own, Said]):
    """Two items, and a slider between six descriptions."""

    ends: ClassVar[tuple[str, str]]
    is_ordered: ClassVar[bool] = False
    is_across: ClassVar[bool] = False
    positive_from: ClassVar[float]
    dataset = "Crisscrossed Captions"
    scripts = ("js/protocols/slider.js",)
    styles = ("css/protocols/similarity.css",)
    columns: ClassVar[Sequence[str]] = ("score", "moved")
    column_kinds = {"score": Kind.NUMBER}
    reports = frozenset({Report.SCORES})
    scores_by = "sampling_method"

    def units(self, source: UnitSource, settings: Own, random: Random) -> Iterator[UnitDraft]:
        for row in source.rows():
            first, second = (row[end] for end in self.ends)
            method = row.get("sampling_method", "uploaded")
            gold = explained(row["gold"], row) if row.get("gold") else None
            made = list(self._draft(first, second, method, gold=gold))
            if not made:
                source.leave_out("an item is paired with itself")
            yield from made
        yield from self.sampled(source, settings, random)

    @abstractmethod
    def sampled(self, source: UnitSource, settings: Own, random: Random) -> Iterator[UnitDraft]:
        """The pairs that the paper's samplers make of what the study was given."""

    @abstractmethod
    def names(self, unit: JudgedUnit, settings: Own) -> list[str]:
        """What the two items are called in the release."""

    def _draft(
        self,
        first: int,
        second: int,
        method: str,
        *,
        gold: Json | None = None,
        sources: Sequence[Candidate] = (),
    ) -> Iterator[UnitDraft]:
        """The pair as a unit; an item with itself is none."""
        if first == second and not self.is_across:
            return
        ids = (first, second) if self.is_ordered or self.is_across else sorted((first, second))
        payload = {**dict(zip(self.ends, (first, second), strict=True)), "sampling_method": method}
        pool = UNIT if gold is None else GOLD
        yield UnitDraft(":".join(map(str, ids)), pool, payload, gold, tuple(sources))

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        images = [payload[end] for end in self.ends if end.startswith("image")]
        captions = [payload[end] for end in self.ends if end.startswith("caption")]
        return images, captions

    def form(self, settings: Own, wording: Said) -> Mapping[str, list[Option]]:
        return {
            "anchors": [
                Option(each, wording.anchors[each], each, wording.anchor_help[each])
                for each in ANCHORS
            ]
        }

    def parse(self, fields: Fields, payload: Json, shown: Json | None, settings: Own) -> Json:
        """A slider always has some value: it counts only where somebody has set it."""
        if fields.get("set") != ["1"]:
            raise FieldErrors({"score": "Move the slider to where the pair belongs."})
        typed = only(fields, "score")
        if not _NUMBER.fullmatch(typed) or float(typed) > HIGHEST:
            raise FieldErrors({"score": "The slider goes from 0 to 5."})
        moved = " ".join(fields.get("moved", [])).split()
        return {
            "score": round(float(typed), 2),
            "moved": [means for means in MOVED if means in moved],
        }

    def told(self, fields: Fields) -> Fields:
        """A score in a file was set by somebody."""
        return {"set": ["1"], **fields}

    def ways(
        self, payload: Json, shown: Json | None, settings: Own, random: Random
    ) -> Sequence[Fields]:
        """Half points, and the hand is not steady."""
        moved = [random.choice(list(MOVED))]
        scores = [step / 2 + random.uniform(-0.2, 0.2) for step in range(HALF_POINTS + 1)]
        return [
            {"set": ["1"], "score": [f"{min(HIGHEST, max(LOWEST, each)):.2f}"], "moved": moved}
            for each in scores
        ]

    def check(self, answer: Json, gold: Json) -> bool:
        score: float = answer["score"]
        return bool(gold["low"] <= score <= gold["high"])

    def gold_of(self, answers: Sequence[Json]) -> tuple[str, Json] | None:
        """A point around the mean."""
        mean = sum(answer["score"] for answer in answers) / len(answers)
        return GOLD, {"low": max(LOWEST, mean - 1), "high": min(HIGHEST, mean + 1)}

    def describe(self, answer: Json, wording: Said) -> str:
        if "score" not in answer:
            return f"From {answer['low']:g} to {answer['high']:g}"
        nearest = wording.anchors[_nearest_anchor(answer["score"])]
        parts = [str(answer["score"]), f"near “{nearest}”", answer.get("comment", "")]
        return " · ".join(filter(None, parts))

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        """The mean, of two decimals as it is published; positive by what is published."""
        total = sum((Decimal(str(answer["score"])) for answer in answers), Decimal(0))
        value = float((total / len(answers)).quantize(HUNDREDTH))
        counts = Counter(_nearest_anchor(answer["score"]) for answer in answers)
        return Aggregate(
            str(value),
            value >= self.positive_from,
            {anchor: counts[anchor] for anchor in ANCHORS},
            value,
        )

    def tallies(self, settings: Own, wording: Said) -> Sequence[Tallied]:
        moved = [Option(means, label, "") for means, label in MOVED.items()]
        return [
            Tallied("score", wording.question, low=LOWEST, high=HIGHEST),
            Tallied("moved", "How the slider was moved", moved),
        ]

    def row(self, answer: Json) -> Sequence[Any]:
        return answer["score"], ";".join(answer["moved"])

    def export(self, source: ReleaseSource, settings: Own) -> Mapping[str, Iterable[str]]:
        """The mean of each pair, and each judgment by itself, of each split."""
        files: dict[str, Iterable[str]] = {}
        for own in source.by_split():
            name = "_".join(filter(None, [self.slug, _NOT_IN_A_NAME.sub("-", own.split)]))
            files[f"{name}.csv"] = as_csv(
                (*self.ends, "agg_score", "sampling_method"), self._means(own, settings)
            )
            files[f"{name}_raw.csv"] = as_csv(
                (*self.ends, "score", "sampling_method"), self._judgments(own, settings)
            )
        return files

    def _means(self, source: ReleaseSource, settings: Own) -> Iterator[Sequence[str]]:
        for unit in source.units():
            yield (*self.names(unit, settings), unit.aggregate.label, _method(unit))

    def _judgments(self, source: ReleaseSource, settings: Own) -> Iterator[Sequence[str]]:
        for unit in source.units():
            names = self.names(unit, settings)
            for answer in unit.answers:
                yield (*names, str(answer["score"]), _method(unit))


@register
class TextSimilarity(Similarity[TextsSettings, TextsWording]):
    slug = "sts"
    judgments_wanted = 5
    name = "Similarity of two texts (STS)"
    description = (
        "How similar two captions are in meaning, on a continuous scale from 0 to 5, as in "
        "Crisscrossed Captions, which wants five judgments a pair."
    )
    template = "protocols/sts.html"
    settings_model = TextsSettings
    shown_settings = frozenset({"comment"})
    wording_model = TextsWording
    sources = frozenset({Source.ROWS, Source.PROPOSALS, Source.CORPUS})
    directions = ("i2i",)
    row_model = TextsRow
    specimens = (
        {"caption1": 1, "caption2": 3, "sampling_method": C2C_ISIM},
        {"caption1": 2, "caption2": 5, "sampling_method": C2C_ISIM},
    )
    ends = ("caption1", "caption2")
    positive_from = 3
    columns = ("score", "moved", "comment")
    remarks = frozenset({"comment"})

    def sampled(
        self, source: UnitSource, settings: TextsSettings, random: Random
    ) -> Iterator[UnitDraft]:
        proposed = _proposed(source, settings.nearest)
        captions = source.captions_of({image for pair in proposed.sources for image in pair})
        image_of = {caption: image for image, own in captions.items() for caption in own}
        lists = proposed.together(captions)
        longest = max(map(len, lists.values()), default=1)
        for pair in c2c_isim(lists, captions, random, each=longest):
            images = image_of[pair.first], image_of[pair.second]
            sources = proposed.of(*images) or proposed.of(*reversed(images))
            yield from self._draft(*pair, C2C_ISIM, sources=sources)
        if settings.cocaptions:
            groups = {image.id: list(image.captions) for image in source.images()}
            for pair in c2c_cocaption(groups, random):
                yield from self._draft(*pair, C2C_COCAPTION)

    def names(self, unit: JudgedUnit, settings: TextsSettings) -> list[str]:
        return [_caption_name(each, settings.caption_names) for each in unit.captions]

    def arrange(self, payload: Json, turn: int, random: Random) -> Json:
        return {"order": list(self.ends if turn % 2 == 0 else reversed(self.ends))}

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        order = shown["order"] if shown else self.ends
        return {"captions": [items.captions[payload[end]] for end in order]}

    def parse(
        self, fields: Fields, payload: Json, shown: Json | None, settings: TextsSettings
    ) -> Json:
        answer = super().parse(fields, payload, shown, settings)
        comment = only(fields, "comment").strip()
        if not settings.comment or not comment:
            return answer
        if len(comment) > LONGEST_COMMENT:
            raise FieldErrors({"comment": f"At most {LONGEST_COMMENT} characters."})
        return answer | {"comment": comment}

    def row(self, answer: Json) -> Sequence[Any]:
        return *super().row(answer), answer.get("comment", "")


@register
class ImageSimilarity(Similarity[ImagesSettings, ImagesWording]):
    slug = "sis"
    judgments_wanted = 5
    name = "Similarity of two images (SIS)"
    description = (
        "How similar two scenes are, on a continuous scale from 0 to 5, as in Crisscrossed "
        "Captions, which wants five judgments a pair; pairs are ordered as proposed."
    )
    template = "protocols/sis.html"
    settings_model = ImagesSettings
    wording_model = ImagesWording
    reports = frozenset({Report.SCORES, Report.RETEST})
    ordered_ends = ("image1", "image2")
    sources = frozenset({Source.ROWS, Source.PROPOSALS})
    directions = ("i2i",)
    row_model = ImagesRow
    specimens = (
        {"image1": 1, "image2": 2, "sampling_method": I2I_CSIM},
        {"image1": 3, "image2": 4, "sampling_method": I2I_CSIM},
    )
    ends = ("image1", "image2")
    is_ordered = True
    positive_from = 2.5

    def sampled(
        self, source: UnitSource, settings: ImagesSettings, random: Random
    ) -> Iterator[UnitDraft]:
        proposed = _proposed(source, settings.nearest)
        for first, second, _ in i2i_csim(proposed.lists, settings.nearest):
            yield from self._draft(first, second, I2I_CSIM, sources=proposed.of(first, second))

    def names(self, unit: JudgedUnit, settings: ImagesSettings) -> list[str]:
        return [_image_name(each, settings.image_names) for each in unit.images]

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        return {"images": [items.images[payload[end]] for end in self.ends]}


@register
class ImageTextSimilarity(Similarity[ImageTextSettings, ImageTextWording]):
    slug = "sits"
    judgments_wanted = 5
    name = "Similarity of an image and a text (SITS)"
    description = (
        "How well an image and a caption match, on a continuous scale from 0 to 5, as in "
        "Crisscrossed Captions, which wants five judgments a pair."
    )
    template = "protocols/sits.html"
    settings_model = ImageTextSettings
    wording_model = ImageTextWording
    sources = frozenset({Source.ROWS, Source.STUDIES, Source.CORPUS})
    feeders = frozenset({"sts", "sis"})
    row_model = ImageTextRow
    specimens = (
        {"caption": 1, "image": 1, "sampling_method": C2I_ORIGINAL},
        {"caption": 3, "image": 2, "sampling_method": C2I_INTRASIM},
    )
    ends = ("caption", "image")
    is_across = True
    positive_from = 3

    def sampled(
        self, source: UnitSource, settings: ImageTextSettings, random: Random
    ) -> Iterator[UnitDraft]:
        rated = _rated(source) if settings.chosen_pairs else {}
        if not rated and not settings.originals:
            return
        captions_of = {image.id: list(image.captions) for image in source.images()}
        if rated:
            known = {caption for own in captions_of.values() for caption in own}
            texts = [r for r in rated.get("sts", []) if {r.first, r.second} <= known]
            images = [
                r
                for r in rated.get("sis", [])
                if r.first in captions_of and captions_of.get(r.second)
            ]
            number = settings.chosen_pairs
            for chosen in c2i_intrasim(texts, images, captions_of, number, random):
                yield from self._draft(chosen.caption, chosen.image, C2I_INTRASIM)
        if settings.originals:
            for caption, image in c2i_original(captions_of):
                yield from self._draft(caption, image, C2I_ORIGINAL)

    def is_denied(self, answers: Sequence[Json]) -> bool:
        return bool(sum(answer["score"] for answer in answers) < len(answers))

    def truth(self, payload: Json, fits: Fits) -> float | None:
        return fits(payload["image"], payload["caption"])

    def names(self, unit: JudgedUnit, settings: ImageTextSettings) -> list[str]:
        (caption,), (image,) = unit.captions, unit.images
        return [
            _caption_name(caption, settings.caption_names),
            _image_name(image, settings.image_names),
        ]

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        return {
            "image": items.images[payload["image"]],
            "caption": items.captions[payload["caption"]],
        }

    def export(
        self, source: ReleaseSource, settings: ImageTextSettings
    ) -> Mapping[str, Iterable[str]]:
        """The two tables, and the positives of each image and of each caption as eccv_caption
        reads them."""
        return {
            **super().export(source, settings),
            "cxc_image_to_caption.json": as_json_object(_positives(source, "image")),
            "cxc_caption_to_image.json": as_json_object(_positives(source, "caption")),
        }


class Proposed(NamedTuple):
    """What machines proposed: each machine's list for each image, and who proposed each pair."""

    lists: dict[str, dict[int, list[int]]]
    sources: dict[tuple[int, int], list[Candidate]]

    def of(self, first: int, second: int) -> Sequence[Candidate]:
        return self.sources.get((first, second), ())

    def together(self, captions: Mapping[int, Mapping[int, str]]) -> dict[int, list[int]]:
        """Each image with all that any machine proposed, as far as both have captions."""
        found: dict[int, dict[int, None]] = {}
        for first, second in self.sources:
            if captions.get(first) and captions.get(second):
                found.setdefault(first, {})[second] = None
        return {first: list(others) for first, others in found.items()}


def _proposed(source: UnitSource, nearest: int) -> Proposed:
    proposed = Proposed({}, {})
    for query in source.queries():
        by_machine = groupby(query.candidates, key=lambda candidate: candidate.proposal_id)
        for machine, candidates in by_machine:
            others = [each for each in candidates if each.target_id != query.id][:nearest]
            own = proposed.lists.setdefault(str(machine), {})
            own[query.id] = [each.target_id for each in others]
            for each in others:
                proposed.sources.setdefault((query.id, each.target_id), []).append(each)
    return proposed


def _rated(source: UnitSource) -> dict[str, list[Rated]]:
    """The pairs of the studies that feed this one, by the protocol that they were rated in."""
    found: dict[str, list[Rated]] = {}
    for unit in source.judged():
        ends = TextSimilarity.ends if unit.protocol == "sts" else ImageSimilarity.ends
        first, second = (unit.payload[end] for end in ends)
        assert unit.aggregate.value is not None
        rated = Rated(first, second, unit.aggregate.value)
        found.setdefault(unit.protocol, []).append(rated)
    return found


def _positives(source: ReleaseSource, query_end: str) -> Iterator[tuple[str, list[int | str]]]:
    for _, units in groupby(source.units(query_end), key=lambda unit: unit.payload[query_end]):
        positive = [unit for unit in units if unit.aggregate.positive]
        if not positive:
            continue
        pairs = [(unit.images[0].id, unit.captions[0].id) for unit in positive]
        if query_end == "image":
            yield pairs[0][0], numbers_first(caption for _, caption in pairs)
        else:
            yield pairs[0][1], numbers_first(image for image, _ in pairs)


def _nearest_anchor(score: float) -> str:
    """Halfway between two descriptions, the upper one."""
    return str(int(score + 0.5))


def _method(unit: JudgedUnit) -> str:
    method: str = unit.payload["sampling_method"]
    return method


def _caption_name(caption: OutsideCaption, pattern: str) -> str:
    return pattern.replace("{id}", caption.id)


def _image_name(image: OutsideImage, pattern: str) -> str:
    return pattern.replace("{file}", image.file_name or image.id).replace("{id}", image.id)

"""ECCV Caption's image-text matching: is the image correctly described?"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from random import Random
from typing import Any, Literal

from pydantic import Field

from hits.exporters.streams import as_json_object, numbers_first
from hits.protocol import (
    CaptionRef,
    FieldErrors,
    Fits,
    Frozen,
    ImageRef,
    Protocol,
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
    Query,
    ReleaseSource,
    Tallied,
    UnitDraft,
    UnitSource,
)

CHOICES = ("yes", "partial_yes", "mostly_no", "no")
POSITIVE = frozenset({"yes", "partial_yes"})
JUSTIFIED = frozenset({"partial_yes", "mostly_no"})
REASONS = ("absent", "undescribed", "wrong", "grammar")
ERRORS = (
    "quantity",
    "appearance",
    "class",
    "gender",
    "age",
    "action",
    "emotion",
    "location",
    "orientation",
    "other",
)
LONGEST_OTHER = 500
EXAMPLE_IMAGE = "examples/coffee.jpg"

CANDIDATE, FILL = "candidate", "fill"
TRUE_POSITIVE, TRUE_NEGATIVE = "true_positive", "true_negative"


class Settings(Frozen):
    own_pairs: bool = Field(
        False,
        title="Ask about the corpus’s own pairs",
        description="Every image with each of its captions, besides what machines proposed.",
    )
    justification: bool = Field(
        True,
        title="Ask what is wrong",
        description="After “partially yes” and “mostly no”, people say what the shortcomings are.",
    )
    candidates_a_page: int = Field(
        18,
        ge=1,
        le=200,
        title="Candidates on a page",
        description="Pairs that machines proposed, 18 in the paper.",
    )
    true_positives_a_page: int = Field(
        1,
        ge=0,
        le=20,
        title="Golds to be answered yes, on a page",
        description="Original pairs of the corpus that no machine has among those judged.",
    )
    true_negatives_a_page: int = Field(
        1,
        ge=0,
        le=20,
        title="Golds to be answered no, on a page",
        description="Random pairs that no machine proposed.",
    )
    judged_depth: int = Field(
        5,
        ge=1,
        le=100,
        title="Ranks that are judged",
        description="Of each machine’s list: 5 sends its first five to people.",
    )
    fill_depth: int = Field(
        25,
        ge=1,
        le=100,
        title="Ranks that fill the last pages",
        description="Up to this rank, when too few candidates are left; 25 in the paper.",
    )
    golds_a_query: int = Field(
        2,
        ge=0,
        le=20,
        title="Golds made for each query",
        description="Of each kind. More golds, fewer repeats for one person.",
    )
    originals_are_positive: bool = Field(
        True,
        title="Original pairs count as positive",
        description="In the release, beside the pairs that people said yes to.",
    )


class Example(Frozen):
    caption: str = Field(title="Description", examples=["Two cups of coffee on a blue saucer."])
    answer: str = Field(title="Right answer", examples=["Partially YES, but"])
    explanation: str = Field(title="Why", examples=["There is one cup, and the saucer is red."])
    image_url: str = Field(
        "",
        title="Image",
        description="An address that begins with https://, or a file of this site.",
        examples=[EXAMPLE_IMAGE],
    )


EXAMPLES = [
    Example(
        caption="A cup of coffee and a spoon on a red saucer.",
        answer="100% YES",
        explanation="There are a cup with coffee, a spoon and a red saucer: all of it fits.",
        image_url=EXAMPLE_IMAGE,
    ),
    Example(
        caption="Two cups of coffee on a blue saucer.",
        answer="Partially YES, but",
        explanation="It is coffee on a saucer, but there is one cup and the saucer is red: "
        "the quantity and a colour are described in a wrong way.",
        image_url=EXAMPLE_IMAGE,
    ),
    Example(
        caption="A woman eats breakfast at a table.",
        answer="Mostly NO, because",
        explanation="There is a table, but neither a woman nor a breakfast appears in the "
        "image, and the cup of coffee is not described.",
        image_url=EXAMPLE_IMAGE,
    ),
    Example(
        caption="Two horses graze on a green hill.",
        answer="100% NO",
        explanation="Nothing of this is in the image.",
        image_url=EXAMPLE_IMAGE,
    ),
]


class Wording(Frozen):
    intro: str = Field(
        "You see an image and a description. Decide how well the description fits the image. "
        "Judge only what you can see; small slips of spelling do not matter.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    question: str = Field("Is the image correctly described?", title="Question under each image")
    choices: dict[str, str] = Field(
        {
            "yes": "100% YES",
            "partial_yes": "Partially YES, but",
            "mostly_no": "Mostly NO, because",
            "no": "100% NO",
        },
        title="Answer",
        description="As the rater reads it; what is stored stays the same.",
    )
    choice_help: dict[str, str] = Field(
        {
            "yes": "Everything in the description is in the image.",
            "partial_yes": "Most of it fits; something is wrong or missing.",
            "mostly_no": "Little of it fits.",
            "no": "It describes another image.",
        },
        title="What the answer means",
        description="In the instructions.",
    )
    reasons_question: str = Field(
        "What are the shortcomings of the description?", title="Question about shortcomings"
    )
    reasons: dict[str, str] = Field(
        {
            "absent": "It describes concepts that do not appear in the image",
            "undescribed": "It does not describe the main concepts of the image",
            "wrong": "It describes the main concepts in a wrong way",
            "grammar": "It is grammatically incorrect or confusing",
        },
        title="Shortcoming",
    )
    errors_question: str = Field(
        "What is described in a wrong way?", title="Question about what is wrong"
    )
    errors: dict[str, str] = Field(
        {
            "quantity": "Quantity",
            "appearance": "Colour, texture or material",
            "class": "Species or object class",
            "gender": "Gender",
            "age": "Age",
            "action": "Action",
            "emotion": "Emotion",
            "location": "Location",
            "orientation": "Orientation",
            "other": "Something else",
        },
        title="What is wrong",
    )
    other_label: str = Field(
        "What else?", title="Label of the free text", description="Opens with “something else”."
    )
    examples: list[Example] = Field(
        EXAMPLES,
        title="Example",
        description="They stand in the instructions, in this order.",
    )


class MatchingRow(Row):
    """A pair to ask about, or a gold with the answer that is known."""

    image: ImageRef
    caption: CaptionRef
    gold: Literal["yes", "no"] | None = None


@register
class Matching(Protocol[Settings, Wording]):
    slug = "matching"
    name = "Image-text matching"
    description = "Four choices on whether a text describes an image, as in ECCV Caption."
    template = "protocols/matching.html"
    settings_model = Settings
    shown_settings = frozenset({"justification"})
    wording_model = Wording
    sources = frozenset({Source.PROPOSALS, Source.CORPUS, Source.ROWS})
    directions = ("i2t", "t2i")
    row_model = MatchingRow
    specimens = ({"image": 1, "caption": 1}, {"image": 2, "caption": 3})
    columns = ("choice", "reasons", "errors", "other")
    reports = frozenset({Report.BIAS})
    finds_positives = True
    remarks = frozenset({"other"})

    def composition(self, settings: Settings) -> Mapping[str, int]:
        return {
            CANDIDATE: settings.candidates_a_page,
            TRUE_POSITIVE: settings.true_positives_a_page,
            TRUE_NEGATIVE: settings.true_negatives_a_page,
        }

    def fill(self, settings: Settings) -> Sequence[str]:
        return [FILL, TRUE_POSITIVE, TRUE_NEGATIVE]

    def asks_corpus(self, settings: Settings) -> bool:
        return settings.own_pairs

    def units(self, source: UnitSource, settings: Settings, random: Random) -> Iterator[UnitDraft]:
        targets = source.targets()
        for query in source.queries():
            yield from _proposed(query, targets, settings, random)
        if settings.own_pairs:
            for image in source.images():
                for caption in image.captions:
                    payload = {"image": image.id, "caption": caption}
                    yield UnitDraft(_key(payload), CANDIDATE, payload)
        yield from map(_uploaded, source.rows())

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        return [payload["image"]], [payload["caption"]]

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        return {
            "image": items.images[payload["image"]],
            "caption": items.captions[payload["caption"]],
        }

    def form(self, settings: Settings, wording: Wording) -> Mapping[str, list[Option]]:
        return {
            "choices": _options(CHOICES, wording.choices, "1234", wording.choice_help),
            "reasons": _options(REASONS, wording.reasons, "qwer", {}),
            "errors": _options(ERRORS, wording.errors, "sdfghjklcv", {}),
        }

    def parse(self, fields: Fields, payload: Json, shown: Json | None, settings: Settings) -> Json:
        errors: dict[str, str] = {}
        choice = only(fields, "choice")
        if choice not in CHOICES:
            raise FieldErrors({"choice": "Choose one of the four answers."})
        answer: Json = {"choice": choice}
        if settings.justification and choice in JUSTIFIED:
            answer["reasons"] = _chosen(fields, "reasons", REASONS)
            if not answer["reasons"]:
                errors["reasons"] = "Choose at least one shortcoming."
            elif "wrong" in answer["reasons"]:
                answer |= _wrong_way(fields, errors)
        if errors:
            raise FieldErrors(errors)
        return answer

    def ways(
        self, payload: Json, shown: Json | None, settings: Settings, random: Random
    ) -> Sequence[Fields]:
        why = {"reasons": [random.choice(REASONS)], "errors": [random.choice(ERRORS[:-1])]}
        asks = JUSTIFIED if settings.justification else ()
        return [{"choice": [each]} | (why if each in asks else {}) for each in CHOICES]

    def truth(self, payload: Json, fits: Fits) -> float | None:
        fit = fits(payload["image"], payload["caption"])
        return None if fit is None else 1 - fit

    def check(self, answer: Json, gold: Json) -> bool:
        expected: bool = gold["positive"]
        return (answer["choice"] in POSITIVE) == expected

    def gold_of(self, answers: Sequence[Json]) -> tuple[str, Json] | None:
        positive = 2 * sum(answer["choice"] in POSITIVE for answer in answers) > len(answers)
        return (TRUE_POSITIVE if positive else TRUE_NEGATIVE), {"positive": positive}

    def is_denied(self, answers: Sequence[Json]) -> bool:
        return all(answer["choice"] == "no" for answer in answers)

    def describe(self, answer: Json, wording: Wording) -> str:
        if "positive" in answer:
            return "A yes (either yes)" if answer["positive"] else "A no (either no)"
        parts = [wording.choices[answer["choice"]]]
        parts += [wording.reasons[reason] for reason in answer.get("reasons", [])]
        parts += [wording.errors[error] for error in answer.get("errors", [])]
        parts += [answer["other"]] if answer.get("other") else []
        return " · ".join(parts)

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        """The most frequent choice; between equally frequent ones, the more negative."""
        counts = Counter(answer["choice"] for answer in answers)
        label = max(CHOICES, key=lambda choice: (counts[choice], CHOICES.index(choice)))
        distribution = {choice: counts[choice] for choice in CHOICES}
        return Aggregate(label, label in POSITIVE, distribution)

    def grade(self, answer: Json) -> float:
        """ECCV Caption, Eq. E.4."""
        return {"yes": 1.0, "partial_yes": 0.5}.get(answer["choice"], 0.0)

    def tallies(self, settings: Settings, wording: Wording) -> Sequence[Tallied]:
        form = self.form(settings, wording)
        return [
            Tallied("choice", wording.question, form["choices"], is_ordered=True),
            Tallied("reasons", wording.reasons_question, form["reasons"]),
            Tallied("errors", wording.errors_question, form["errors"]),
        ][: 3 if settings.justification else 1]

    def export(self, source: ReleaseSource, settings: Settings) -> Mapping[str, Iterable[str]]:
        """The two files that eccv_caption reads: the positives of each query."""
        return {
            "eccv_image_to_caption.json": as_json_object(
                _positives(source, "i2t", settings.originals_are_positive)
            ),
            "eccv_caption_to_image.json": as_json_object(
                _positives(source, "t2i", settings.originals_are_positive)
            ),
        }

    def row(self, answer: Json) -> Sequence[Any]:
        return (
            answer["choice"],
            ";".join(answer.get("reasons", [])),
            ";".join(answer.get("errors", [])),
            answer.get("other", ""),
        )


def _positives(
    source: ReleaseSource, direction: str, originals_are_positive: bool
) -> Iterator[tuple[str, list[int | str]]]:
    """Each query with its positives: what people said yes to, and the corpus's own pairs
    unless people said no to them. Both streams come in the order of the queries' ids."""
    query_end, target_end = ("image", "caption") if direction == "i2t" else ("caption", "image")
    by_query = groupby(source.units(query_end), key=lambda unit: unit.payload[query_end])
    query_id: int | None = 0
    units: Iterator[JudgedUnit] = iter(())
    for query in source.queries(direction):
        while query_id is not None and query_id < query.id:
            query_id, units = next(by_query, (None, iter(())))
        positives = dict(query.originals) if originals_are_positive else {}
        if query_id == query.id:
            for unit in units:
                _put(positives, unit, target_end)
        if positives:
            yield query.external_id, numbers_first(positives.values())


def _put(positives: dict[int, str], unit: JudgedUnit, target_end: str) -> None:
    target = unit.payload[target_end]
    if unit.aggregate.positive:
        (item,) = unit.captions if target_end == "caption" else unit.images
        positives[target] = item.id
    else:
        positives.pop(target, None)


def _pair(query: Query, target: int) -> Json:
    if query.direction == "i2t":
        return {"image": query.id, "caption": target}
    return {"image": target, "caption": query.id}


def _key(payload: Json) -> str:
    return f"{payload['image']}:{payload['caption']}"


def _uploaded(row: Json) -> UnitDraft:
    payload = {"image": row["image"], "caption": row["caption"]}
    if row["gold"] is None:
        return UnitDraft(_key(payload), CANDIDATE, payload)
    positive = row["gold"] == "yes"
    pool = TRUE_POSITIVE if positive else TRUE_NEGATIVE
    return UnitDraft(_key(payload), pool, payload, gold=explained({"positive": positive}, row))


def _proposed(
    query: Query, targets: Sequence[int], settings: Settings, random: Random
) -> Iterator[UnitDraft]:
    ranked, best = _by_target(query.candidates)
    golds = _golds(query, best, targets, settings, random) if settings.golds_a_query else []
    yield from golds
    taken = {gold.key for gold in golds}
    for target, sources in ranked.items():
        rank = best[target]
        if rank > settings.fill_depth:
            continue
        payload = _pair(query, target)
        key = _key(payload)
        if key not in taken:
            pool = CANDIDATE if rank <= settings.judged_depth else FILL
            yield UnitDraft(key, pool, payload, None, tuple(sources))


def _by_target(
    candidates: Iterable[Candidate],
) -> tuple[dict[int, list[Candidate]], dict[int, int]]:
    """Each target with its candidates, and with the best rank that it got."""
    found: dict[int, list[Candidate]] = {}
    best: dict[int, int] = {}
    for candidate in candidates:
        _, target, rank, _ = candidate
        if target in found:
            found[target].append(candidate)
            best[target] = min(rank, best[target])
        else:
            found[target] = [candidate]
            best[target] = rank
    return found, best


def _gold(query: Query, target: int, pool: str, *, positive: bool) -> UnitDraft:
    payload = _pair(query, target)
    return UnitDraft(_key(payload), pool, payload, gold={"positive": positive})


def _golds(
    query: Query,
    best: Mapping[int, int],
    targets: Sequence[int],
    settings: Settings,
    random: Random,
) -> list[UnitDraft]:
    return [
        *_true_positives(query, best, settings),
        *_true_negatives(query, best, targets, settings, random),
    ]


def _true_positives(
    query: Query, best: Mapping[int, int], settings: Settings
) -> Iterator[UnitDraft]:
    """Original pairs that no machine ranks so high that people are asked about them."""
    unproposed = [
        target
        for target in query.originals
        if best.get(target, settings.judged_depth + 1) > settings.judged_depth
    ]
    for target in unproposed[: settings.golds_a_query]:
        yield _gold(query, target, TRUE_POSITIVE, positive=True)


def _true_negatives(
    query: Query,
    best: Mapping[int, int],
    targets: Sequence[int],
    settings: Settings,
    random: Random,
) -> Iterator[UnitDraft]:
    """Random pairs outside every machine's kept list. A corpus too small for one gives none."""
    drawn = random.sample(targets, min(len(targets), settings.golds_a_query * 20))
    outside = [t for t in drawn if t not in best and t not in query.originals]
    for target in outside[: settings.golds_a_query]:
        yield _gold(query, target, TRUE_NEGATIVE, positive=False)


def _options(
    values: Sequence[str], labels: Mapping[str, str], keys: str, helps: Mapping[str, str]
) -> list[Option]:
    return [
        Option(value, labels[value], key, helps.get(value, ""))
        for value, key in zip(values, keys, strict=True)
    ]


def _chosen(fields: Fields, name: str, allowed: Sequence[str]) -> list[str]:
    return [value for value in allowed if value in fields.get(name, [])]


def _wrong_way(fields: Fields, errors: dict[str, str]) -> Json:
    chosen = _chosen(fields, "errors", ERRORS)
    other = only(fields, "other").strip()
    if not chosen:
        errors["errors"] = "Choose at least one thing that is described in a wrong way."
    if "other" in chosen and not other:
        errors["other"] = "Say what else is wrong."
    if len(other) > LONGEST_OTHER:
        errors["other"] = f"At most {LONGEST_OTHER} characters."
    return {"errors": chosen} | ({"other": other} if "other" in chosen else {})

"""MSCOCO-FG's human step: texts that a machine made finer are confirmed, corrected or given up."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, groupby, islice
from pathlib import PurePosixPath
from random import Random
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from hits.exporters.formats import Kind
from hits.exporters.streams import as_json_object, as_lines
from hits.protocol import (
    GOLD,
    UNIT,
    CaptionRef,
    FieldErrors,
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
    CaptionedImage,
    Fields,
    Items,
    Json,
    JudgedUnit,
    Option,
    OutsideImage,
    ReleaseSource,
    Tallied,
    UnitDraft,
    UnitSource,
)
from hits.word_diff import edit, pieces, plain, size, tokens, words

RENOVATION = "renovation"
Choice = Literal["confirm", "correct", "hopeless"]
CHOICES: tuple[Choice, ...] = ("confirm", "correct", "hopeless")
CONFIRM, CORRECT, HOPELESS = CHOICES
# A correction may be somewhat longer than what it corrects. Comparing two texts takes as long as
# the product of their lengths, so that words are limited too.
LONGEST_PROPOSED, LONGEST_TEXT = 500, 600
MOST_PROPOSED, MOST_TOKENS = 100, 150
LARGE_EDIT = 20
ROWS_AT_ONCE = 1000
EXAMPLE_IMAGE = "examples/coffee.jpg"


def _some_words(text: str) -> str:
    line = plain(text)
    if not words(line):
        raise ValueError("a text has words")
    if len(line) > LONGEST_PROPOSED or len(tokens(line)) > MOST_PROPOSED:
        raise ValueError(f"at most {LONGEST_PROPOSED} characters and {MOST_PROPOSED} words")
    return line


Text = Annotated[str, AfterValidator(_some_words)]


class RenovationGold(Frozen):
    choices: tuple[Choice, ...] = Field(
        min_length=1, max_length=2, description="The choices that pass; any other fails."
    )


class RenovationRow(Row):
    """A caption of an image and the text that a machine proposes for it. Rows whose caption is not
    one of the image's are left out; so is a second proposal for a caption."""

    image: ImageRef
    caption: CaptionRef
    proposed: Text
    pool: tuple[str, ...] = Field(
        (),
        max_length=100,
        description="File names of images that are hard to tell from this one.",
    )
    machine: str = Field("", max_length=201, description="What proposed it; raters never see it.")
    gold: RenovationGold | None = None


class Example(Frozen):
    caption: str = Field(title="Proposed text", examples=["A cup of coffee on a blue saucer."])
    answer: str = Field(title="Right answer", examples=["It needs a correction"])
    explanation: str = Field(title="Why", examples=["The saucer is red: change that one word."])
    image_url: str = Field(
        "",
        title="Image",
        description="An address that begins with https://, or a file of this site.",
        examples=[EXAMPLE_IMAGE],
    )


EXAMPLES = [
    Example(
        caption="A cup of coffee with a spoon on a red saucer.",
        answer="It is right",
        explanation="The original text was “A cup of coffee”. The spoon and the red saucer were "
        "added, and both are in the image.",
        image_url=EXAMPLE_IMAGE,
    ),
    Example(
        caption="A cup of coffee on a blue saucer.",
        answer="It needs a correction",
        explanation="The saucer is red. Change “blue” to “red”, and leave everything else as "
        "it is: one word.",
        image_url=EXAMPLE_IMAGE,
    ),
    Example(
        caption="A cup of coffee and is on a table.",
        answer="It needs a correction",
        explanation="The detail is right, the sentence is not. Take out “and is”: two words.",
        image_url=EXAMPLE_IMAGE,
    ),
    Example(
        caption="A cup of a man rides two of a horse.",
        answer="It is hopeless",
        explanation="Little of it fits and it makes no sense: correcting it would mean writing "
        "another text.",
        image_url=EXAMPLE_IMAGE,
    ),
]


class RenovationWording(Frozen):
    intro: str = Field(
        "You see an image, a text about it, and a finer text that a program proposes in its "
        "place. What the program added is underlined. Check above all whether that is true of the "
        "image and whether the sentence is sound. If something is wrong, correct it with as few "
        "words as possible: do not improve what is right already.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    original_label: str = Field("Original", title="Label of the original text")
    proposed_label: str = Field("Proposed", title="Label of the proposed text")
    question: str = Field("Does the proposed text fit the image?", title="Question under the texts")
    choices: dict[str, str] = Field(
        {
            "confirm": "It is right",
            "correct": "It needs a correction",
            "hopeless": "It is hopeless",
        },
        title="Answer",
        description="As the rater reads it; what is stored stays the same.",
    )
    choice_help: dict[str, str] = Field(
        {
            "confirm": "What was added is in the image, and the sentence is sound.",
            "correct": "Something is wrong that a few words put right.",
            "hopeless": "Correcting it would mean writing another text.",
        },
        title="What the answer means",
        description="In the instructions.",
    )
    text_label: str = Field(
        "Correct it with as few words as possible",
        title="Label of the text to correct",
        description="Opens with the correction; it holds the proposed text.",
    )
    size_label: str = Field("Words changed:", title="Label of the count of changed words")
    unchanged: str = Field(
        "Nothing is changed yet. Left like this, it counts as right.",
        title="Said of a correction that changes nothing",
    )
    examples: list[Example] = Field(
        EXAMPLES,
        title="Example",
        description="They stand in the instructions, in this order.",
    )


@register
class Renovation(PagedProtocol[PageSettings, RenovationWording]):
    slug = RENOVATION
    dataset = "MSCOCO-FG"
    name = "Text renovation"
    description = (
        "A text that a machine made finer is confirmed, corrected with few words or given up, "
        "as in MSCOCO-FG."
    )
    template = "protocols/renovation.html"
    scripts = ("js/protocols/renovation.js",)
    styles = ("css/protocols/refinement.css",)
    settings_model = PageSettings
    wording_model = RenovationWording
    sources = frozenset({Source.ROWS, Source.DETAILS})
    row_model = RenovationRow
    written = frozenset({"text"})
    specimens = (
        {
            "image": 4,
            "caption": 4,
            "proposed": "A raccoon rests among long green leaves, its paw hanging down.",
        },
        {
            "image": 3,
            "caption": 3,
            "proposed": "A close-up of a tabby cat with green eyes and a blue nose.",
        },
        {
            "image": 5,
            "caption": 5,
            "proposed": "A cup is the espresso of two small on a red saucer with a spoon rides.",
        },
    )
    columns = ("choice", "text", "words_changed", "edit")
    reports = frozenset({Report.RENOVATION})
    column_kinds = {"words_changed": Kind.WHOLE}

    def units(
        self, source: UnitSource, settings: PageSettings, random: Random
    ) -> Iterator[UnitDraft]:
        rows = source.rows()
        while some := list(islice(rows, ROWS_AT_ONCE)):
            captions = source.captions_of({row["image"] for row in some})
            for row in some:
                if row["caption"] in captions.get(row["image"], {}):
                    yield _unit(row)
                else:
                    source.leave_out("the caption is not one of the image’s")

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        return [payload["image"]], [payload["caption"]]

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        original = plain(items.captions[payload["caption"]])
        return {
            "image": items.images[payload["image"]],
            "original": original,
            "caption": payload["proposed"],
            "pieces": [
                {"text": piece.text, "spaced": piece.spaced, "added": piece.kind == "added"}
                for piece in pieces(original, payload["proposed"])
                if piece.kind != "removed"
            ],
        }

    def form(
        self, settings: PageSettings, wording: RenovationWording
    ) -> Mapping[str, list[Option]]:
        return {
            "choices": [
                Option(choice, wording.choices[choice], key, wording.choice_help[choice])
                for choice, key in zip(CHOICES, "123", strict=True)
            ]
        }

    def parse(
        self, fields: Fields, payload: Json, shown: Json | None, settings: PageSettings
    ) -> Json:
        choice = only(fields, "choice")
        if choice not in CHOICES:
            raise FieldErrors({"choice": "Choose one of the three answers."})
        if choice == HOPELESS:
            return {"choice": HOPELESS}
        proposed = payload["proposed"]
        text = _corrected(fields) if choice == CORRECT else proposed
        changed = edit(proposed, text)
        if not changed:
            return {"choice": CONFIRM, "text": proposed, "edit": [], "size": 0}
        return {"choice": CORRECT, "text": text, "edit": changed, "size": size(proposed, text)}

    def ways(
        self, payload: Json, shown: Json | None, settings: PageSettings, random: Random
    ) -> Sequence[Fields]:
        """A correction leaves one word of the proposed text out."""
        given = payload["proposed"].split()
        left_out = random.randrange(len(given))
        text = " ".join(given[:left_out] + given[left_out + 1 :]) or "Something else."
        return [
            {"choice": [CONFIRM]},
            {"choice": [CORRECT], "text": [text]},
            {"choice": [HOPELESS]},
        ]

    def check(self, answer: Json, gold: Json) -> bool:
        return answer["choice"] in gold["choices"]

    def describe(self, answer: Json, wording: RenovationWording) -> str:
        if "choices" in answer:
            return " or ".join([wording.choices[choice] for choice in answer["choices"]])
        said = wording.choices[answer["choice"]]
        return f"{said} · {answer['text']}" if answer["choice"] == CORRECT else said

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        label = most_said(answers, CHOICES)
        agreed = _agreed(answers, label)
        counts = Counter(answer["choice"] for answer in answers)
        return Aggregate(
            label,
            agreed is not None,
            {choice: counts[choice] for choice in CHOICES},
            None if agreed is None else agreed["size"],
        )

    def tallies(self, settings: PageSettings, wording: RenovationWording) -> Sequence[Tallied]:
        return [
            Tallied("choice", wording.question, self.form(settings, wording)["choices"]),
            Tallied("size", wording.size_label.rstrip(":"), low=0, high=LARGE_EDIT),
        ]

    def export(self, source: ReleaseSource, settings: PageSettings) -> Mapping[str, Iterable[str]]:
        """Every text of the corpus's images, renovated or as it was, and the pool of images."""
        return {
            "FG_ann.json": as_json_object(_texts_of_images(source)),
            "FG_img_filenames.txt": as_lines(_pool(source)),
        }

    def renovated(self, unit: JudgedUnit) -> tuple[str, str, str | None]:
        (caption,) = unit.captions
        return caption.text, unit.payload["proposed"], agreed_text(unit.answers)

    def without_words(self, answer: Json) -> Json | None:
        """A correction is what a person wrote and nothing else."""
        return None if answer["choice"] == CORRECT else answer

    def row(self, answer: Json) -> Sequence[Any]:
        if answer["choice"] == HOPELESS:
            return HOPELESS, "", "", ""
        changed = json.dumps(answer["edit"], ensure_ascii=False)
        return answer["choice"], answer["text"], answer["size"], changed


def agreed_text(answers: Sequence[Json]) -> str | None:
    """The text that people together made of a proposal; None where they gave it up."""
    agreed = _agreed(answers, most_said(answers, CHOICES))
    return None if agreed is None else agreed["text"]


def _unit(row: Json) -> UnitDraft:
    gold = row.get("gold")
    payload = {name: row[name] for name in ("image", "caption", "proposed")}
    payload |= {name: row[name] for name in ("pool", "machine") if row.get(name)}
    key = f"{row['image']}:{row['caption']}"
    if gold is None:
        return UnitDraft(key, UNIT, payload)
    rule = explained({"choices": gold["choices"]}, row)
    return UnitDraft(f"{key}:{digest(row['proposed'])}", GOLD, payload, rule)


def digest(*texts: str) -> str:
    return sha256("\0".join(texts).encode()).hexdigest()[:16]


def _corrected(fields: Fields) -> str:
    text = plain(only(fields, "text"))
    if not words(text):
        raise FieldErrors({"text": "Write the corrected text, or choose another answer."})
    if len(text) > LONGEST_TEXT:
        raise FieldErrors({"text": f"At most {LONGEST_TEXT} characters."})
    if len(tokens(text)) > MOST_TOKENS:
        raise FieldErrors({"text": f"At most {MOST_TOKENS} words."})
    return text


def most_said(answers: Sequence[Json], choices: Sequence[str]) -> str:
    """The most frequent choice; between equally frequent ones, the later."""
    counts = Counter(answer["choice"] for answer in answers)
    return max(choices, key=lambda choice: (counts[choice], choices.index(choice)))


def _agreed(answers: Sequence[Json], label: str) -> Json | None:
    """Of the answers with this choice, the one whose text is most frequent, then the one that
    changes least."""
    said = [answer for answer in answers if answer["choice"] == label]
    if label == HOPELESS:
        return None
    counts = Counter(answer["text"] for answer in said)
    return min(said, key=lambda own: (-counts[own["text"]], own["size"], own["text"]))


def _texts_of_images(source: ReleaseSource) -> Iterator[tuple[str, list[str]]]:
    """Both streams come in the order of the images' ids."""
    by_image = groupby(source.units("image"), key=lambda unit: unit.payload["image"])
    image_id, units = next(by_image, (None, iter(())))
    for image in source.captioned():
        while image_id is not None and image_id < image.id:
            image_id, units = next(by_image, (None, iter(())))
        own = list(units) if image_id == image.id else []
        yield stem_of(image.image), _texts(image, own)


def _texts(image: CaptionedImage, units: Iterable[JudgedUnit]) -> list[str]:
    made = {unit.payload["caption"]: agreed_text(unit.answers) for unit in units}
    return [made.get(pk) or caption.text for pk, caption in image.captions.items()]


def _pool(source: ReleaseSource) -> Iterator[str]:
    targets = (image.image.file_name or image.image.id for image in source.captioned())
    similar = (unit.payload.get("pool", []) for unit in source.units())
    return chain(targets, chain.from_iterable(similar))


def stem_of(image: OutsideImage) -> str:
    """COCO_val2014_000000452113 of COCO_val2014_000000452113.jpg."""
    return PurePosixPath(image.file_name).stem or image.id

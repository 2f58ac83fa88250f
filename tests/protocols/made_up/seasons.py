"""A protocol for a test: does the text tell the season of the image?"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from pydantic import Field

from hits.exporters.streams import as_json_object
from hits.protocol import (
    GOLD,
    UNIT,
    FieldErrors,
    Frozen,
    PagedProtocol,
    PageSettings,
    Source,
    only,
    register,
)
from hits.records import (
    Aggregate,
    Fields,
    Items,
    Json,
    Option,
    ReleaseSource,
    UnitDraft,
    UnitSource,
)

CHOICES = ("yes", "no")


class Wording(Frozen):
    intro: str = Field("Look at the light and the leaves.", title="Instructions")
    question: str = Field("Does the text tell the season?", title="Question")
    choices: dict[str, str] = Field({"yes": "It does", "no": "It does not"}, title="Answer")


@register
class Seasons(PagedProtocol[PageSettings, Wording]):
    slug = "seasons"
    name = "Seasons"
    description = "Whether a text tells the season of an image."
    template = "protocols/seasons.html"
    settings_model = PageSettings
    wording_model = Wording
    sources = frozenset({Source.PROPOSALS})
    directions = ("i2t",)
    specimens = ({"image": 1, "caption": 1},)
    columns = ("choice",)

    def units(
        self, source: UnitSource, settings: PageSettings, random: Random
    ) -> Iterator[UnitDraft]:
        for query in source.queries():
            own = {"image": query.id, "caption": query.originals[0]}
            yield UnitDraft(f"{query.id}:gold", GOLD, own, {"choice": "yes"})
            best = min(query.candidates, key=lambda candidate: candidate.rank)
            payload = {"image": query.id, "caption": best.target_id}
            yield UnitDraft(str(query.id), UNIT, payload, None, (best,))

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        return [payload["image"]], [payload["caption"]]

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        return {
            "image": items.images[payload["image"]],
            "caption": items.captions[payload["caption"]],
        }

    def form(self, settings: PageSettings, wording: Wording) -> Mapping[str, list[Option]]:
        return {
            "choices": [Option(each, wording.choices[each], each[0]) for each in CHOICES],
        }

    def parse(
        self, fields: Fields, payload: Json, shown: Json | None, settings: PageSettings
    ) -> Json:
        choice = only(fields, "choice")
        if choice not in CHOICES:
            raise FieldErrors({"choice": "Choose one."})
        return {"choice": choice}

    def check(self, answer: Json, gold: Json) -> bool:
        return bool(answer["choice"] == gold["choice"])

    def describe(self, answer: Json, wording: Wording) -> str:
        return wording.choices[answer["choice"]]

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        counts = Counter(answer["choice"] for answer in answers)
        label = max(CHOICES, key=lambda choice: counts[choice])
        return Aggregate(label, label == "yes", dict(counts))

    def export(self, source: ReleaseSource, settings: PageSettings) -> Mapping[str, Iterable[str]]:
        said = ((unit.images[0].id, unit.aggregate.label) for unit in source.units())
        return {"seasons.json": as_json_object(said)}

    def row(self, answer: Json) -> Sequence[Any]:
        return (answer["choice"],)

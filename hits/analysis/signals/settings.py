"""The rules of the signals as a researcher sets them, and what follows from them."""

from pydantic import Field

from hits.analysis.signals.rules import Rules
from hits.protocol import Frozen

USUAL = Rules()


class QualitySettings(Frozen):
    """Part of a study's version. Every default is what `Rules` has."""

    page_golds: int = Field(
        1,
        ge=0,
        le=20,
        title="Failed golds that raise a page",
        description="0: a page is not raised by its own golds, only by its person’s record.",
    )
    gold_window: int = Field(
        USUAL.gold_window,
        ge=1,
        le=1000,
        title="Golds in a person’s record",
        description="So many of the last ones are looked at.",
    )
    tolerated_failures: float = Field(
        USUAL.tolerated_failures,
        ge=0.001,
        le=0.9,
        title="Share of golds that anybody may fail",
        description="0.1 is one in ten. A record is raised when chance hardly explains it.",
    )
    level: float = Field(
        USUAL.level,
        ge=1e-9,
        le=0.2,
        title="How rare chance must be",
        description="0.001 raises what chance gives once in a thousand.",
    )
    fast_spreads: float = Field(
        USUAL.fast_spreads,
        ge=0.5,
        le=50,
        title="Too fast, in spreads",
        description="Below what people on the same device take.",
    )
    slow_spreads: float = Field(USUAL.slow_spreads, ge=0.5, le=50, title="Too slow, in spreads")
    rest_spreads: float = Field(
        USUAL.rest_spreads,
        ge=0.5,
        le=50,
        title="Too far from the others, in spreads",
        description="For disagreement and for reliability.",
    )
    pattern_spreads: float = Field(
        USUAL.pattern_spreads,
        ge=0.5,
        le=50,
        title="Too regular, in spreads",
        description="Answers that return after the same number of questions.",
    )
    longest_cycle: int = Field(
        USUAL.longest_cycle, ge=1, le=50, title="Longest pattern, in questions"
    )
    fewest_judgments: int = Field(
        USUAL.fewest_judgments,
        ge=2,
        le=10_000,
        title="Judgments before a person is judged",
        description="Who has fewer is not raised by what takes many.",
    )
    fewest_people: int = Field(
        USUAL.fewest_people, ge=3, le=1000, title="People before anything is usual"
    )
    fewest_shared: int = Field(
        USUAL.fewest_shared,
        ge=2,
        le=1000,
        title="Shared units before two people are compared",
    )
    gold_doubt: float = Field(
        0.4,
        ge=0.05,
        le=1,
        title="Share of good people whose failing doubts a gold",
        description="A gold that so many of them fail is put before a person.",
    )
    replacement_pages: int = Field(
        0,
        ge=0,
        le=100_000,
        title="Pages to buy in place of those not used",
        description="At a marketplace, in all, by themselves and at the same pay. 0: somebody "
        "tops up by hand. Raters of the house get such units again without cost.",
    )
    raters_see_accuracy: bool = Field(
        False,
        title="Raters see how many golds they passed",
        description="Their own, from five golds on; never which ones.",
    )

    @property
    def rules(self) -> Rules:
        thresholds = self.model_dump(
            exclude={"gold_doubt", "replacement_pages", "raters_see_accuracy"}
        )
        return Rules(**thresholds | {"page_golds": self.page_golds or None})

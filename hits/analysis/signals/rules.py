"""What signals are held to. It imports little, for settings are read where nothing is computed."""

from dataclasses import dataclass

from hits.analysis.errors import DegenerateInput


@dataclass(frozen=True)
class Rules:
    """What a signal has to reach before it is raised; part of a study's version.

    `level` is the probability, by chance alone, up to which counts are raised; `spreads` are
    distances from what is usual among people, in spreads of it. Nothing is said of who has fewer
    than `fewest_judgments`, nor against what is usual among fewer than `fewest_people`.
    """

    level: float = 0.001
    page_golds: int | None = 1
    gold_window: int = 20
    tolerated_failures: float = 0.1
    fast_spreads: float = 3.0
    slow_spreads: float = 6.0
    rest_spreads: float = 3.0
    pattern_spreads: float = 4.0
    longest_cycle: int = 6
    fewest_judgments: int = 20
    fewest_people: int = 8
    fewest_shared: int = 10

    def __post_init__(self) -> None:
        spreads = (self.fast_spreads, self.slow_spreads, self.rest_spreads, self.pattern_spreads)
        counts = (self.gold_window, self.longest_cycle, self.fewest_judgments, self.fewest_shared)
        if not 0 < self.level < 1 or not 0 < self.tolerated_failures < 1:
            raise DegenerateInput("A level and a tolerated share lie between 0 and 1.")
        if min(spreads) <= 0 or min(counts) < 1 or self.fewest_people < 3:
            raise DegenerateInput("Thresholds are positive, and what is usual needs three people.")
        if self.page_golds is not None and self.page_golds < 1:
            raise DegenerateInput("A page is raised from one failed gold on, or not by golds.")

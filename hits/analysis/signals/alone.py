"""Signals that a person's own work gives: golds, times, variation, patterns, sides."""

from collections.abc import Iterator

import numpy as np

from hits.analysis.arrays import Bools, Floats, Ints
from hits.analysis.errors import DegenerateInput
from hits.analysis.signals.rules import Rules
from hits.analysis.signals.usual import QUARTILE, Tail, usual
from hits.analysis.signals.wording import chance, many
from hits.analysis.signals.work import FAILED, NO_GOLD, NOT_SHOWN, Signal, Subject, Work, grouped

# A tenth faster or slower is no difference.
LEAST_PACE = 0.1
# Seconds; clocks that say less are not that exact.
SHORTEST = 0.1


def page_golds(work: Work, rules: Rules) -> Iterator[Signal]:
    """The plain rule: a page on which so many golds failed."""
    if rules.page_golds is None:
        raise DegenerateInput("The study does not raise single pages by their golds.")
    golds = _golds(work)
    for page, rows in grouped(golds.pages):
        own = golds.golds[rows]
        failed, needed = int((own == FAILED).sum()), rules.page_golds
        yield Signal(
            "page golds",
            "page",
            page,
            failed,
            needed,
            failed / needed,
            f"{failed} of {many(len(own), 'gold')} on this page failed; "
            f"a page is raised from {needed} on.",
        )


def gold_record(work: Work, rules: Rules) -> Iterator[Signal]:
    """Failures among a person's last golds, as they stood with each page and as they stand now.

    P(X ≥ failures) with X binomial at the share of failures that is tolerated.
    """
    golds = _golds(work).in_order()
    for person, own in grouped(golds.people):
        pages, failed = golds.pages[own], golds.golds[own] == FAILED
        for page in np.unique(pages):
            upto = int(np.searchsorted(pages, page, side="right"))
            yield _record("page", int(page), failed[:upto], rules)
        yield _record("person", person, failed, rules)


def _golds(work: Work) -> Work:
    rows = work.golds != NO_GOLD
    if not rows.any():
        raise DegenerateInput("The study has no golds.")
    return work.kept(rows)


def _record(subject: Subject, key: int, failed: Bools, rules: Rules) -> Signal:
    window = failed[-rules.gold_window :]
    tail = Tail(int(window.sum()), len(window), rules.tolerated_failures)
    until = "until this page" if subject == "page" else "of this person"
    return Signal(
        "gold record",
        subject,
        key,
        tail.count / tail.of,
        tail.share_needed(rules.level),
        tail.doubt(rules.level),
        f"Of the last {many(tail.of, 'gold')} {until}, {tail.count} failed. Who fails "
        f"{tail.rate:.0%} of them does so {chance(tail.probability)}.",
    )


def times(work: Work, rules: Rules) -> Iterator[Signal]:
    """Median seconds a judgment, as logarithms, against those of people on the same device.

    A device that few people use is held to the people of all devices.
    """
    rows = ~np.isnan(work.seconds)
    if not rows.any():
        raise DegenerateInput("No times are known.")
    timed = work.kept(rows)
    logs = np.log(np.maximum(timed.seconds, SHORTEST))
    centres, spreads = _paces(logs, timed, rules)
    deviation = _deviation(logs, timed.people)
    subjects: tuple[tuple[Subject, Ints], ...] = (("page", timed.pages), ("person", timed.people))
    for subject, keys in subjects:
        for key, own in grouped(keys):
            # A median's standard error, of a normal sample: 1.2533 of the mean's.
            error = 1.2533 * deviation / float(np.sqrt(len(own)))
            spread = float(np.hypot(spreads[own].mean(), error))
            yield _pace(subject, key, logs[own], centres[own], spread, rules)


def _deviation(logs: Floats, people: Ints) -> float:
    """Of single judgments from their person's middle, whatever pauses there are."""
    away = np.concatenate([np.abs(logs[own] - np.median(logs[own])) for _, own in grouped(people)])
    return float(np.median(away)) / QUARTILE


def _paces(logs: Floats, timed: Work, rules: Rules) -> tuple[Floats, Floats]:
    """What is usual on the device of each judgment: middle and spread."""
    centres, spreads = np.empty(len(logs)), np.empty(len(logs))
    everybody = _medians(logs, timed.people)
    for _, own in grouped(timed.devices):
        medians = _medians(logs[own], timed.people[own])
        known = medians if len(medians) >= rules.fewest_people else everybody
        pace = usual(known, fewest=rules.fewest_people, least=LEAST_PACE)
        centres[own], spreads[own] = pace.centre, pace.spread
    return centres, spreads


def _medians(values: Floats, keys: Ints) -> Floats:
    return np.array([np.median(values[own]) for _, own in grouped(keys)])


def _pace(
    subject: Subject, key: int, logs: Floats, centres: Floats, spread: float, rules: Rules
) -> Signal:
    distance = float(np.median(logs - centres)) / spread
    threshold = -rules.fast_spreads if distance < 0 else rules.slow_spreads
    way = "faster" if distance < 0 else "slower"
    return Signal(
        "time",
        subject,
        key,
        distance,
        threshold,
        distance / threshold,
        f"A judgment took {np.exp(np.median(logs)):.1f} s in the middle, where people on the same "
        f"device take {np.exp(np.median(centres)):.1f} s: {abs(distance):.1f} spreads {way}; "
        f"raised from {abs(threshold):g} on.",
    )


def variation(work: Work, rules: Rules) -> Iterator[Signal]:
    """How often a person gives their commonest answer, against the rest.

    P(X ≥ count) with X binomial at the share that the upper quarter of the other people gives
    that answer, for as many answers as there are.
    """
    counts, people = _answers_by_person(work, rules)
    if counts.shape[1] < 2:
        raise DegenerateInput("All judgments are alike, so nobody varies less than others.")
    shares = counts / counts.sum(axis=1, keepdims=True)
    for row, person in enumerate(people):
        answer = int(counts[row].argmax())
        rate = float(np.quantile(np.delete(shares[:, answer], row), 0.75))
        total = int(counts[row].sum())
        tail = Tail(int(counts[row, answer]), total, rate, counts.shape[1])
        yield Signal(
            "variation",
            "person",
            int(person),
            tail.count / total,
            tail.share_needed(rules.level),
            tail.doubt(rules.level),
            f"{tail.count} of {total} answers are the same one. Three quarters of the other people "
            f"give it up to {rate:.0%} of the time; by chance that is seen "
            f"{chance(tail.probability)}.",
        )


def _answers_by_person(work: Work, rules: Rules) -> tuple[Ints, Ints]:
    answers = work.answers()
    people, codes = np.unique(work.people, return_inverse=True)
    kinds = int(answers.max()) + 1
    counts = np.bincount(codes * kinds + answers, minlength=len(people) * kinds)
    counts = counts.reshape(len(people), kinds)
    enough = counts.sum(axis=1) >= rules.fewest_judgments
    if enough.sum() < rules.fewest_people:
        raise DegenerateInput(
            f"Only {many(int(enough.sum()), 'person has', 'people have')} "
            f"{rules.fewest_judgments} judgments."
        )
    return counts[enough], people[enough]


def patterns(work: Work, rules: Rules) -> Iterator[Signal]:
    """Answers that return after 1, 2, … positions of a page, against the person's own shares s.

    Of m pairs of positions a share p = Σ s² is alike by chance, with the variance
    m p (1 - p) + 2 m (Σ s³ - p²), for pairs that share a position are not independent. Half a
    pair is taken off for continuity. Distance 1 are runs, 2 is ABABAB.
    """
    ordered = work.in_order()
    answers = ordered.answers()
    for person, own in grouped(ordered.people):
        if len(own) >= rules.fewest_judgments:
            found = _strongest_cycle(answers[own], ordered.pages[own], rules)
            if found is not None:
                yield _pattern(person, *found, rules)


def _strongest_cycle(
    answers: Ints, pages: Ints, rules: Rules
) -> tuple[int, int, int, float, float] | None:
    """Distance, pairs, pairs that are alike, share alike by chance, spreads above it."""
    shares = np.bincount(answers) / len(answers)
    alike, triple = float((shares**2).sum()), float((shares**3).sum())
    found = []
    for distance in range(1, min(rules.longest_cycle, len(answers) - 1) + 1):
        same_page = pages[distance:] == pages[:-distance]
        pairs = int(same_page.sum())
        same = int((answers[distance:] == answers[:-distance])[same_page].sum())
        variance = pairs * (alike * (1 - alike) + 2 * (triple - alike**2))
        if pairs >= rules.fewest_judgments and variance > 0 and alike < 1:
            above = max(0.0, same - pairs * alike - 0.5) / float(np.sqrt(variance))
            found.append((distance, pairs, same, alike, above))
    return max(found, key=lambda one: (one[4], -one[0])) if found else None


def _pattern(
    person: int, distance: int, pairs: int, same: int, alike: float, above: float, rules: Rules
) -> Signal:
    return Signal(
        "pattern",
        "person",
        person,
        above,
        rules.pattern_spreads,
        above / rules.pattern_spreads,
        f"The answer {many(distance, 'position')} later is the same in {same} of {pairs} cases; "
        f"with this person's shares of answers chance gives {pairs * alike:.0f}. That is "
        f"{above:.1f} spreads more; raised from {rules.pattern_spreads:g} on.",
    )


def sides(work: Work, rules: Rules) -> Iterator[Signal]:
    """How often what a person chose stood in one place, of places drawn at random.

    P(X ≥ count) with X binomial at 1 / places, for as many places as there are: with two sides
    the exact test of both.
    """
    rows = work.sides != NOT_SHOWN
    if not rows.any():
        raise DegenerateInput("The study shows nothing in places drawn at random.")
    shown = work.kept(rows)
    for person, own in grouped(shown.people):
        counts = np.bincount(shown.sides[own])
        total = int(counts.sum())
        if total < rules.fewest_judgments:
            continue
        tail = Tail(int(counts.max()), total, 1 / work.places, work.places)
        yield Signal(
            "side",
            "person",
            person,
            tail.count / total,
            tail.share_needed(rules.level),
            tail.doubt(rules.level),
            f"{tail.count} of {total} choices stood in place {int(counts.argmax()) + 1} of "
            f"{work.places}, where {total / work.places:.0f} are to be expected; by chance that is "
            f"seen {chance(tail.probability)}.",
        )

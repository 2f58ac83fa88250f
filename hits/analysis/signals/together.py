"""Signals that others' work gives: who disagrees with the rest, who copies, who is confirmed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from hits.analysis.aggregation import DawidSkene, dawid_skene
from hits.analysis.arrays import Bools, Floats, Ints
from hits.analysis.errors import DegenerateInput
from hits.analysis.signals.rules import Rules
from hits.analysis.signals.usual import Tail, Usual, usual
from hits.analysis.signals.wording import chance, many
from hits.analysis.signals.work import CONFIRMED, NOT_ASKED, Signal, Subject, Work, grouped

# Differences of two hundredths, of a share or of a deviation, do not matter.
LEAST = 0.02


def disagreement(work: Work, rules: Rules) -> Iterator[Signal]:
    """Mean distance of a person's, or a page's, judgments from the others' of the same units.

    For names the share of the others who answered otherwise; for numbers the distance from the
    others' mean, in standard deviations of all judgments.
    """
    shared = _shared(work)
    distances = _from_rest(shared)
    numbers = np.bincount(shared.people)
    sums = np.bincount(shared.people, weights=distances)
    enough = numbers >= rules.fewest_judgments
    rest = usual(sums[enough] / numbers[enough], fewest=rules.fewest_people, least=LEAST)
    # Of all judgments: two that happen to lie equally far away are not for that more certain.
    deviation = float(distances.std())
    for page, own in grouped(shared.pages):
        yield _disagrees("page", page, distances[own], deviation, rest, rules)
    for person, own in grouped(shared.people):
        if len(own) >= rules.fewest_judgments:
            yield _disagrees("person", person, distances[own], deviation, rest, rules)


def _shared(work: Work) -> Work:
    """Units that two people or more judged, without golds."""
    plain = work.without_golds()
    several = np.bincount(plain.units)[plain.units] > 1
    if not several.any():
        raise DegenerateInput("Every unit has one judgment, so nobody is compared with others.")
    return plain.kept(several)


def _from_rest(shared: Work) -> Floats:
    units = np.unique(shared.units, return_inverse=True)[1].astype(np.int64)
    others = np.bincount(units)[units] - 1
    if shared.level == "nominal":
        codes = np.unique(shared.values, return_inverse=True)[1].astype(np.int64)
        cells = units * (int(codes.max()) + 1) + codes
        alike = np.bincount(cells)[cells] - 1
        shares: Floats = 1 - alike / others
        return shares
    values = shared.values
    if shared.level == "ordinal":
        values = stats.rankdata(values)
    deviation = float(values.std())
    if deviation == 0:
        raise DegenerateInput("All judgments are alike, so nobody disagrees.")
    mean_of_others = (np.bincount(units, weights=values)[units] - values) / others
    distances: Floats = np.abs(values - mean_of_others) / deviation
    return distances


def _disagrees(
    subject: Subject, key: int, distances: Floats, deviation: float, rest: Usual, rules: Rules
) -> Signal:
    figure = float(distances.mean())
    error = deviation / float(np.sqrt(len(distances)))
    away = rest.distance(figure, error)
    return Signal(
        "disagreement",
        subject,
        key,
        figure,
        rest.centre + rules.rest_spreads * float(np.hypot(rest.spread, error)),
        max(0.0, away) / rules.rest_spreads,
        f"These {many(len(distances), 'judgment')} lie {figure:.2f} from those of the others on "
        f"the same units, where {rest.centre:.2f} is usual: {_away(away, rules.rest_spreads)}",
    )


def _away(spreads: float, threshold: float) -> str:
    way = "more" if spreads > 0 else "less"
    return f"{abs(spreads):.1f} spreads {way}; raised from {threshold:g} more on."


@dataclass(frozen=True)
class Pairs:
    """Pairs of people, how many units they share, and on how many they answered the same."""

    first: Ints
    second: Ints
    shared: Ints
    same: Ints


def pairs_of_people(work: Work) -> Pairs:
    order = np.argsort(work.units, kind="stable")
    units, people, values = work.units[order], work.people[order], work.values[order]
    most = int(np.bincount(units).max())
    width = int(people.max()) + 1
    found, alike = [], []
    for step in range(1, most):
        together = units[step:] == units[:-step]
        one, two = people[:-step][together], people[step:][together]
        found.append(np.minimum(one, two) * width + np.maximum(one, two))
        alike.append((values[:-step] == values[step:])[together])
    pairs, codes = np.unique(np.concatenate(found), return_inverse=True)
    same = np.bincount(codes, weights=np.concatenate(alike)).astype(np.int64)
    return Pairs(pairs // width, pairs % width, np.bincount(codes), same)


def copies(work: Work, rules: Rules) -> Iterator[Signal]:
    """The person whose answers on shared units are most like one's own.

    P(X ≥ same) with X binomial at the largest of: what the two people's shares of answers give by
    chance, each one's agreement with everybody else, and the agreement that three quarters of all
    pairs stay under; for as many others as the person is compared with.
    """
    shared = _shared(work)
    pairs = pairs_of_people(shared)
    enough = pairs.shared >= rules.fewest_shared
    if not enough.any():
        raise DegenerateInput(f"No two people share {rules.fewest_shared} units.")
    rates = _expected(shared, pairs, enough)
    tails = np.asarray(stats.binom.sf(pairs.same - 1, pairs.shared, rates))
    for person in np.unique(np.concatenate([pairs.first[enough], pairs.second[enough]])):
        own = np.flatnonzero(enough & ((pairs.first == person) | (pairs.second == person)))
        closest = own[np.lexsort((-pairs.same[own], tails[own]))[0]]
        tail = Tail(
            int(pairs.same[closest]), int(pairs.shared[closest]), float(rates[closest]), len(own)
        )
        other = int(pairs.first[closest] + pairs.second[closest] - person)
        yield _copied(int(person), other, tail, rules)


def _copied(person: int, other: int, tail: Tail, rules: Rules) -> Signal:
    return Signal(
        "copies",
        "person",
        person,
        tail.count / tail.of,
        tail.share_needed(rules.level),
        tail.doubt(rules.level),
        f"{tail.count} of the {tail.of} answers on units shared with one other person are the "
        f"same, where up to {tail.rate:.0%} are to be expected; among {many(tail.times, 'other')} "
        f"chance gives that {chance(tail.probability)}.",
        other,
    )


def _expected(shared: Work, pairs: Pairs, enough: Bools) -> Floats:
    people = int(shared.people.max()) + 1
    codes = np.unique(shared.values, return_inverse=True)[1].astype(np.int64)
    kinds = int(codes.max()) + 1
    counts = np.bincount(shared.people * kinds + codes, minlength=people * kinds)
    counts = counts.reshape(people, kinds)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    by_chance = (shares[pairs.first] * shares[pairs.second]).sum(axis=1)
    ends = np.concatenate([pairs.first, pairs.second])
    same = np.bincount(ends, weights=np.tile(pairs.same, 2), minlength=people)
    total = np.bincount(ends, weights=np.tile(pairs.shared, 2), minlength=people)
    rates = [by_chance]
    for end in (pairs.first, pairs.second):
        others = total[end] - pairs.shared
        rates.append(
            np.divide(same[end] - pairs.same, others, out=np.zeros(len(end)), where=others > 0)
        )
    quarter = np.quantile(pairs.same[enough] / pairs.shared[enough], 0.75)
    expected: Floats = np.maximum(np.max(rates, axis=0), quarter)
    return np.clip(expected, 1e-6, 1 - 1e-6)


def reliability(work: Work, rules: Rules) -> Iterator[Signal]:
    """Cohen's kappa of a person with the truth as Dawid and Skene's model believes it.

    With priors π and the person's confusions e, κ = (Σ π_c e_cc - Σ π_c m_c) / (1 - Σ π_c m_c),
    m_k = Σ_c π_c e_ck: 1 who is always right, 0 who answers blindly, below 0 who inverts.
    """
    if work.level == "interval":
        raise DegenerateInput("Dawid and Skene's model is for names, not for numbers.")
    shared = _shared(work)
    kappas, errors = _kappas(dawid_skene(shared.judgments()), np.bincount(shared.people))
    people = np.unique(shared.people)
    numbers = np.bincount(shared.people)[people]
    enough = numbers >= rules.fewest_judgments
    rest = usual(kappas[enough], fewest=rules.fewest_people, least=LEAST)
    for row in np.flatnonzero(enough):
        away = rest.distance(float(kappas[row]), float(errors[row]))
        spread = float(np.hypot(rest.spread, errors[row]))
        yield Signal(
            "reliability",
            "person",
            int(people[row]),
            float(kappas[row]),
            rest.centre - rules.rest_spreads * spread,
            max(0.0, -away) / rules.rest_spreads,
            f"Agreement with what all people together hold to be true, beyond blind answers, is "
            f"{kappas[row]:.2f} (kappa; {many(int(numbers[row]), 'judgment')}), where "
            f"{rest.centre:.2f} is usual: {abs(away):.1f} spreads "
            f"{'less' if away < 0 else 'more'}; raised from {rules.rest_spreads:g} less on.",
        )


def _kappas(fitted: DawidSkene, numbers: Ints) -> tuple[Floats, Floats]:
    """And their standard errors."""
    right = np.einsum("c,wcc->w", fitted.priors, fitted.confusions)
    said = np.einsum("c,wck->wk", fitted.priors, fitted.confusions)
    blind = np.minimum(said @ fitted.priors, 1 - LEAST)
    kappas: Floats = (right - blind) / (1 - blind)
    bounded = np.clip(right, 0, 1)
    errors: Floats = np.sqrt(bounded * (1 - bounded) / numbers[numbers > 0]) / (1 - blind)
    return kappas, errors


def confirmation(work: Work, rules: Rules) -> Iterator[Signal]:
    """How many of a person's judgments a later stage did not confirm.

    P(X ≥ not confirmed) with X binomial at the share that three quarters of the other people
    stay under.
    """
    rows = work.confirmed != NOT_ASKED
    if not rows.any():
        raise DegenerateInput("No later stage has asked about this study's judgments.")
    people, codes = np.unique(work.people[rows], return_inverse=True)
    refused = np.bincount(codes, weights=work.confirmed[rows] != CONFIRMED).astype(np.int64)
    asked = np.bincount(codes)
    enough = np.flatnonzero(asked >= rules.fewest_judgments)
    if len(enough) < rules.fewest_people:
        raise DegenerateInput(
            f"Only {many(len(enough), 'person has', 'people have')} {rules.fewest_judgments} "
            "judgments that a later stage asked about."
        )
    shares = refused[enough] / asked[enough]
    for place, row in enumerate(enough):
        rate = float(np.quantile(np.delete(shares, place), 0.75))
        tail = Tail(int(refused[row]), int(asked[row]), rate)
        yield Signal(
            "confirmation",
            "person",
            int(people[row]),
            tail.count / tail.of,
            tail.share_needed(rules.level),
            tail.doubt(rules.level),
            f"{tail.count} of {many(tail.of, 'judgment')} were not confirmed in the later stage, "
            f"where three quarters of the other people have up to {rate:.0%}; by chance that is "
            f"seen {chance(tail.probability)}.",
        )

"""Rehearse: what a study would cost, take and find, before a cent is paid.

The study's own units, pages, pay and golds, with a crowd that somebody assumes. What comes of it is
kept with the job that computed it."""

import math
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from hits.channels.costs import fee, to_the_cent
from hits.models import Job, Study
from hits.pipeline.errors import Refused
from hits.pipeline.open import refuse_without_source
from hits.pipeline.overview import progress_of
from hits.pipeline.plan import plan_of
from hits.pipeline.rules import quality_of, rules_of
from hits.pipeline.terms import terms_of
from hits.pipeline.uploaded import Tell, silent
from hits.protocol import Report

PREFERENCES = (0.55, 0.6, 0.65, 0.7, 0.8)
SECONDS = 8.0
MOST_PEOPLE = 100_000


def rehearse(
    *,
    study: Study,
    people: int,
    bad_share: float = 0.1,
    positives: float = 0.3,
    hours_a_day: float = 1.0,
    seed: int = 0,
    tell: Tell = silent,
) -> dict[str, Any]:
    """The study comes with its version."""
    # scipy takes a second to import, and only who rehearses should wait for it.
    from hits.analysis.errors import AnalysisError
    from hits.analysis.rehearsal import Design
    from hits.analysis.rehearsal import rehearse as on_crowds

    if not 1 <= people <= MOST_PEOPLE or hours_a_day <= 0:
        raise Refused("A rehearsal needs people, and some hours a day.")
    asked = _asked(study)
    kind, settings = rules_of(study)
    (_, page_units), *golds = kind.composition(settings).items()
    page_golds = sum(count for _, count in golds)
    tell(0, message="Simulating crowds.")
    try:
        design = Design(
            units=asked["units"],
            judgments=asked["judgments"],
            page_units=page_units,
            page_golds=page_golds,
            people=people,
            bad_share=bad_share,
            seconds=_seconds(study, page_units + page_golds),
            positives=positives,
        )
        found = on_crowds(design, seed, quality_of(study).rules)
    except AnalysisError as why:
        raise Refused(str(why)) from None
    told = {
        "assumed": {**asdict(design), "hours_a_day": hours_a_day, "seed": seed},
        **_cost(study, asked, page_units, found.rules["flagged"].mean),
        **_time(asked, page_units, people, hours_a_day, found.page_seconds.mean),
        **asdict(found),
        "compares": Report.COMPARISONS in kind.reports,
        "power": _power(asked["judgments"]) if Report.COMPARISONS in kind.reports else [],
    }
    if not kind.finds_positives:
        told |= {"positives": {}, "checked": {}}
    tell(1, 1, "Rehearsed.")
    return told


def last_rehearsal(study: Study) -> Job | None:
    done = study.jobs.filter(kind="rehearse", state=Job.State.DONE)
    return done.order_by("-pk").first()


def _asked(study: Study) -> dict[str, int]:
    """How many units, with how many judgments each."""
    assert study.version is not None
    if study.state == Study.State.DRAFT:
        refuse_without_source(study)
        planned = plan_of(study)
        units, wanted = planned.judged, planned.wanted
    else:
        progress = progress_of(study)
        units = progress.units
        wanted = max(1, round(progress.wanted / units)) if units else 1
    if not units:
        raise Refused("There is nothing to judge yet: give the study something to make units of.")
    return {"units": units, "judgments": wanted}


def _seconds(study: Study, questions: int) -> float:
    """Of a judgment: as measured or expected here, else as the simulated crowd has it."""
    assert study.version is not None
    page = terms_of(study, study.version).seconds
    return page / questions if page else SECONDS


def _cost(study: Study, asked: dict[str, int], page_units: int, replaced: float) -> dict[str, Any]:
    """Of all pages, and with those again that the quality rules would set aside: both are paid."""
    assert study.version is not None
    pages = math.ceil(asked["units"] * asked["judgments"] / page_units)
    again = math.ceil(pages * replaced / (1 - replaced)) if replaced < 1 else pages
    pay = study.version.pay
    page = pay + fee(pay) if pay else Decimal(0)
    return {
        "judged_pages": pages,
        "replaced_pages": again,
        "cost": str(to_the_cent(pages * pay)),
        "cost_with_fee": str(to_the_cent(pages * page)),
        "cost_with_replacements": str(to_the_cent((pages + again) * page)),
    }


def _time(
    asked: dict[str, int], page_units: int, people: int, hours_a_day: float, seconds: float
) -> dict[str, Any]:
    pages = math.ceil(asked["units"] * asked["judgments"] / page_units)
    hours = pages * seconds / 3600
    return {"hours": hours, "days": hours / (people * hours_a_day)}


def _power(judgments: int) -> list[dict[str, float]]:
    """How many judgments of two systems tell them apart, by how clearly one is preferred."""
    from hits.analysis.power import design_effect, judgments_to_tell

    rows = []
    for preference in PREFERENCES:
        independent = judgments_to_tell(preference)
        needed = math.ceil(independent * design_effect(preference, judgments))
        rows.append(
            {
                "preference": preference,
                "independent": independent,
                "judgments": needed,
                "units": math.ceil(needed / judgments),
            }
        )
    return rows

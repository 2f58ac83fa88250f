"""Clone: a study once more as a draft, and its pilot, which finds out what a page should pay."""

import math
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from django.db import connection, transaction

from hits.models import Study, StudyVersion, User
from hits.pipeline.chain import choose_feeders
from hits.pipeline.errors import Refused
from hits.pipeline.open import create_study
from hits.pipeline.overview import pace_of
from hits.pipeline.versions import VERSIONED, change_version

MOST_PILOT_PAGES = 500
FEWEST_FOR_A_MEDIAN = 5
PILOTS_SHOWN = 3
_ROWS = """
    INSERT INTO hits_studyrow (study_id, number, content)
    SELECT %(made)s, number, content FROM hits_studyrow WHERE study_id = %(study)s
"""


@dataclass(frozen=True, slots=True)
class PilotTime:
    """How long pages of a pilot took."""

    pilot: Study
    pages: int
    median_seconds: float | None

    @property
    def is_enough(self) -> bool:
        return self.median_seconds is not None and self.pages >= FEWEST_FOR_A_MEDIAN

    def pay_for(self, hourly: Decimal) -> Decimal:
        """What a page must pay so that the median person earns this much an hour."""
        if self.median_seconds is None:
            raise Refused("No page of the pilot was done and timed yet.")
        pay = hourly * Decimal(str(round(self.median_seconds, 3))) / 3600
        return pay.quantize(Decimal("0.01"), rounding=ROUND_UP)


@transaction.atomic
def clone_study(*, study: Study, slug: str, name: str, by: User) -> Study:
    """A draft with the same settings, wording, rules and sources; nobody's work comes with it."""
    version = study.version
    assert version is not None
    made = create_study(
        slug=slug,
        name=name,
        corpus=study.corpus,
        protocol_slug=study.protocol,
        by=by,
        seed=study.seed,
        split=study.split,
        **{field: getattr(version, field) for field in VERSIONED},
    )
    made.proposals.set(study.proposals.all())
    made.continues.set(study.continues.all())
    choose_feeders(study=made, feeders=list(study.fed_by.all()))
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, {"made": made.pk, "study": study.pk})
    return made


@transaction.atomic
def make_pilot(*, study: Study, pages: int, by: User) -> Study:
    """A draft of so many pages of the study, for invited people; it is never released."""
    if study.pilot_of_id is not None:
        raise Refused("This is a pilot itself.")
    if not 1 <= pages <= MOST_PILOT_PAGES:
        raise Refused(f"A pilot has 1 to {MOST_PILOT_PAGES} pages.")
    number = Study.objects.filter(pilot_of=study).count() + 1
    made = clone_study(
        study=study,
        slug=f"{study.slug[:38]}-pilot-{number}",
        name=f"Pilot {number} of {study.name}"[:200],
        by=by,
    )
    made.pilot_of, made.pilot_pages = study, pages
    made.save(update_fields=["pilot_of", "pilot_pages"])
    return made


def use_pilot(*, study: Study, timed: PilotTime, hourly: Decimal, by: User) -> StudyVersion:
    """Pay and time of a page as the pilot says, in a new version."""
    pay = timed.pay_for(hourly)
    assert timed.median_seconds is not None
    minutes = math.ceil(timed.median_seconds / 60)
    return change_version(study=study, by=by, pay=pay, expected_minutes=minutes)


def pilot_times(study: Study) -> list[PilotTime]:
    """Of the newest pilots that were opened."""
    opened = study.pilots.exclude(state=Study.State.DRAFT).select_related("version")
    times = ((pilot, pace_of(pilot)) for pilot in opened.order_by("-pk")[:PILOTS_SHOWN])
    return [PilotTime(pilot, pace.pages, pace.median_seconds) for pilot, pace in times]

"""Chain: finished studies feed the next one, and people are kept apart where they must be."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from hits.models import Assignment, Exclusion, Participation, Study
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.review import record
from hits.pipeline.rules import comes_after, to_be_left
from hits.pipeline.submit import close
from hits.protocol import protocol, registry


@transaction.atomic
def choose_feeders(*, study: Study, feeders: Collection[Study]) -> int:
    """The studies whose finished units become units here; an open study takes more of them, but
    forgets none. Tells how many people have worked in a study that they may not work in now."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if locked.state == Study.State.CLOSED:
        raise Closed("This study is closed.")
    for feeder in feeders:
        _may_feed(feeder, locked)
    dropped = set(locked.fed_by.all()) - set(feeders)
    if dropped and locked.state != Study.State.DRAFT:
        raise Closed("The units of this study have been made already: it forgets no feeder.")
    locked.fed_by.set(feeders)
    return sum(
        exclude(study=locked, other=feeder) for feeder in feeders if must_be_apart(locked, feeder)
    )


def _may_feed(feeder: Study, study: Study) -> None:
    kind = protocol(study.protocol)
    if feeder.protocol not in kind.feeders:
        names = " or ".join(sorted(registry()[slug].name for slug in kind.feeders))
        raise Refused(
            f"“{kind.name}” is fed by studies of “{names}”."
            if names
            else f"“{kind.name}” is fed by no other study."
        )
    if feeder.corpus_id != study.corpus_id:
        raise Refused(f"{feeder.name} is about another corpus.")
    if feeder.state == Study.State.DRAFT:
        raise Refused(f"{feeder.name} has not been opened yet.")


def must_be_apart(one: Study, other: Study) -> bool:
    return comes_after(one, other) or comes_after(other, one)


def keep_apart(study: Study) -> None:
    """Before anybody works in a study: from every other on its corpus that it must be apart from,
    whether that is open by now or not."""
    for other in Study.objects.filter(corpus=study.corpus_id).exclude(pk=study.pk):
        if must_be_apart(study, other):
            Exclusion.objects.get_or_create(study=study, other=other)


@transaction.atomic
def exclude(*, study: Study, other: Study) -> int:
    """From now on nobody works in both. Who did already, as many as this tells, goes on in
    neither: pages of theirs that are open go back, and what they judged in the study that comes
    after the other, or in which they came later, is not used."""
    if study == other:
        raise Refused("A study cannot exclude itself.")
    list(Study.objects.select_for_update().filter(pk__in=[study.pk, other.pk]).order_by("pk"))
    Exclusion.objects.get_or_create(study=study, other=other)
    left = dict(_wrong_studies(study, other))
    for page in _pages(left, [study, other]):
        if page.state == Assignment.State.OPEN:
            close(page, Assignment.State.RETURNED)
        elif page.study_id == left[page.person_id]:
            why = f"{study.name} and {other.name} are kept apart: nobody’s work is used in both."
            record(page, use="not_used", payment=page.payment, reason=why, by=None)
    return len(left)


def _wrong_studies(study: Study, other: Study) -> Iterator[tuple[int, int]]:
    """Of people who worked in both, the study they should not have worked in."""
    here, there = _started(study), _started(other)
    for person in sorted(here.keys() & there.keys()):
        started = {study.pk: here[person], other.pk: there[person]}
        yield person, to_be_left(study, other, started).pk


def _started(study: Study) -> dict[int, datetime]:
    started = Participation.objects.filter(study=study).values_list("person_id", "started_at")
    return {person: at for person, at in started if at is not None}


def _pages(people: Iterable[int], studies: list[Study]) -> Iterable[Assignment]:
    done = Q(state=Assignment.State.SUBMITTED, is_training=False) & ~Q(use="not_used")
    return (
        Assignment.objects.select_for_update(no_key=True)
        .filter(Q(state=Assignment.State.OPEN) | done, study__in=studies, person__in=people)
        .order_by("pk")
    )


@transaction.atomic
def stop_excluding(*, study: Study, other: Study) -> None:
    if must_be_apart(study, other):
        raise Refused(
            f"Who worked in {other.name} may never work here, or people would judge their own work "
            "or know too much."
        )
    study.exclusions.filter(other=other).delete()


def possible_feeders(study: Study) -> Q:
    """Which studies could feed this one."""
    return Q(corpus=study.corpus_id, protocol__in=protocol(study.protocol).feeders) & ~Q(
        state=Study.State.DRAFT
    )

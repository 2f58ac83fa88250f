"""Chain: finished studies feed the next one, and people are kept apart where they must be."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import Q

from hits.models import Assignment, Exclusion, Participation, Study
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.submit import close
from hits.protocol import protocol, registry


@transaction.atomic
def choose_feeders(*, study: Study, feeders: Collection[Study]) -> None:
    """The studies whose finished units become units here; an open study takes more of them, but
    forgets none. Where the protocol says so, nobody works in a study and in one that feeds it."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if locked.state == Study.State.CLOSED:
        raise Closed("This study is closed.")
    kind = protocol(locked.protocol)
    for feeder in feeders:
        _may_feed(feeder, locked)
    before = set(locked.fed_by.all())
    dropped = before - set(feeders)
    if dropped and locked.state != Study.State.DRAFT:
        raise Closed("The units of this study have been made already: it forgets no feeder.")
    locked.fed_by.set(feeders)
    if kind.keeps_feeders_apart:
        locked.exclusions.filter(other__in=dropped).delete()
        for feeder in feeders:
            exclude(study=locked, other=feeder)


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


@transaction.atomic
def exclude(*, study: Study, other: Study) -> int:
    """From now on nobody works in both; who did already, as many as this tells, goes on in
    neither. Pages of theirs that are open go back."""
    if study == other:
        raise Refused("A study cannot exclude itself.")
    list(Study.objects.select_for_update().filter(pk__in=[study.pk, other.pk]).order_by("pk"))
    Exclusion.objects.get_or_create(study=study, other=other)
    both = _started(study) & _started(other)
    pages = Assignment.objects.select_for_update(no_key=True).filter(
        study__in=[study, other], person__in=both, state=Assignment.State.OPEN
    )
    for page in pages.order_by("pk"):
        close(page, Assignment.State.RETURNED)
    return len(both)


def _started(study: Study) -> set[int]:
    started = Participation.objects.filter(study=study, started_at__isnull=False)
    return set(started.values_list("person_id", flat=True))


@transaction.atomic
def stop_excluding(*, study: Study, other: Study) -> None:
    feeds = study.fed_by.filter(pk=other.pk).exists()
    if feeds and protocol(study.protocol).keeps_feeders_apart:
        raise Refused(
            f"{other.name} feeds this study: who worked there may never work here, or people would "
            "judge their own work."
        )
    study.exclusions.filter(other=other).delete()


def possible_feeders(study: Study) -> Q:
    """Which studies could feed this one."""
    return Q(corpus=study.corpus_id, protocol__in=protocol(study.protocol).feeders) & ~Q(
        state=Study.State.DRAFT
    )

"""Training: golds with feedback before somebody's first page, until they qualify.

A training page is drawn, answered and paid like any other. It has golds alone, which are no data,
and its person sees what was right once it is submitted, so that these golds are never asked of
them again. Who qualified once stays qualified, whatever later versions ask for; who judged units
before there was training goes on without it.
"""

from collections.abc import Collection

from django.db.models import Count, F, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from hits.models import Assignment, Participation, Slot, Study, StudyVersion, Unit, User
from hits.pipeline.errors import NotAllowed, Refused
from hits.protocol import protocol

NO_MORE_TRIES = (
    "Thank you for your time. Your answers in the training differed too often from those that this "
    "study looks for, so it has no pages for you. What you submitted is paid like any other page. "
    "If you think that this is a mistake, write to the people who run the study: to them you are "
    "rater {person}."
)
OPEN_ELSEWHERE = "Submit the training page that you have open first."
NO_GOLDS_LEFT = (
    "Thank you for your time. There are no more questions to train on that you have not seen. "
    "Write to the people who run the study if you want to go on: to them you are rater {person}."
)


class NotQualified(NotAllowed):
    """Training is over for this person, or at least for now."""


def is_due(version: StudyVersion, *, has_qualified: bool, has_started: bool) -> bool:
    return bool(version.training_units) and not has_qualified and not has_started


def refuse_without_tries(*, version: StudyVersion, person_id: int) -> None:
    """A page that is open counts as a try, so that no two of them are the last one."""
    theirs = tries_of(version.study_id, person_id)
    submitted = theirs.filter(state=Assignment.State.SUBMITTED).count()
    if submitted >= version.training_attempts:
        raise NotQualified(NO_MORE_TRIES.format(person=person_id))
    if submitted + theirs.filter(state=Assignment.State.OPEN).count() >= version.training_attempts:
        raise NotQualified(OPEN_ELSEWHERE)


def settle(page: Assignment) -> None:
    """Check a training page that is just being submitted; the caller has its person locked.
    One more than somebody had tries, as a late page may be, does not qualify."""
    kind = protocol(page.study.protocol)
    answers = Slot.objects.filter(assignment=page).values_list("judgment__answer", "unit__gold")
    shown = [(answer, gold) for answer, gold in answers if gold is not None]
    right = sum(answer is not None and kind.check(answer, gold) for answer, gold in shown)
    Assignment.objects.filter(pk=page.pk).update(
        golds_shown=len(shown), golds_failed=len(shown) - right
    )
    tries = tries_of(page.study_id, page.person_id).filter(state=Assignment.State.SUBMITTED)
    if tries.count() > page.version.training_attempts or right < needed(page.version, len(shown)):
        return
    theirs = Participation.objects.filter(study=page.study_id, person=page.person_id)
    theirs.filter(qualified_at__isnull=True).update(qualified_at=timezone.now())


def out_of_tries(person_id: int) -> Collection[int]:
    """The studies in which a person trained as often as they may, and did not qualify."""
    trained = Assignment.objects.filter(person=person_id, is_training=True, state="submitted")
    counted = trained.values("study").annotate(tries=Count("pk"))
    over = counted.filter(tries__gte=F("study__version__training_attempts"))
    unqualified = Participation.objects.filter(
        person=person_id, qualified_at=None, started_at=None, study__version__training_units__gt=0
    )
    return set(over.filter(study__in=unqualified.values("study")).values_list("study", flat=True))


def standings(study: Study) -> QuerySet[Participation]:
    """Who takes part, with how often each trained and how many answers were right at best."""
    trained = Assignment.objects.filter(
        study=OuterRef("study"), person=OuterRef("person"), is_training=True, state="submitted"
    )
    together = trained.order_by().values("study")
    right = Max(F("golds_shown") - F("golds_failed"))
    return study.participations.select_related("let_in_by").annotate(
        tries=Coalesce(Subquery(together.annotate(n=Count("pk")).values("n")), 0),
        best=Subquery(together.annotate(right=right).values("right")),
    )


def let_in(*, study: Study, person_id: int, by: User) -> Participation:
    """Qualify somebody by hand; whoever is qualified stays so as they became it."""
    theirs = Participation.objects.filter(study=study, person_id=person_id)
    if not theirs.exists():
        raise Refused("Nobody with this number takes part in the study.")
    unqualified = theirs.filter(qualified_at__isnull=True)
    unqualified.update(qualified_at=timezone.now(), let_in_by=by)
    return theirs.get()


def refuse_too_few_golds(version: StudyVersion) -> None:
    """Nobody could ever qualify in a study with fewer golds than its training asks for."""
    if not version.training_units:
        return
    golds = Unit.objects.filter(study=version.study_id, gold__isnull=False, excluded=False).count()
    if golds < version.training_units:
        raise Refused(
            f"A training page of {version.training_units} golds needs as many: this study has "
            f"{golds}."
        )


def needed(version: StudyVersion, shown: int) -> int:
    """How many of so many answers must be right."""
    return -(-shown * version.training_accuracy // 100)


def tries_of(study_id: int, person_id: int) -> QuerySet[Assignment]:
    """Without pages of whom the marketplace did not confirm: those may be somebody else's."""
    trained = Assignment.objects.filter(study=study_id, person=person_id, is_training=True)
    return trained.exclude(use=Assignment.Use.NOT_USED)

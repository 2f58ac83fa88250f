"""Feedback: what somebody learns of their own training page, once they have submitted it."""

from dataclasses import dataclass

from hits.models import Assignment, Participation
from hits.pipeline.evidence import Answered, answers_of
from hits.pipeline.training import NO_MORE_TRIES, needed, tries_of


@dataclass(frozen=True, slots=True)
class Feedback:
    answers: list[Answered]
    right: int
    needed: int
    has_qualified: bool
    tries_left: int
    person: int

    @property
    def asked(self) -> int:
        return len(self.answers)

    @property
    def passed(self) -> bool:
        return self.right >= self.needed

    @property
    def may_try_again(self) -> bool:
        return not self.has_qualified and self.tries_left > 0

    @property
    def farewell(self) -> str:
        return NO_MORE_TRIES.format(person=self.person)


def feedback_on(page: Assignment) -> Feedback | None:
    """For the person of the page, who may know these golds now; nothing on any other page."""
    if not page.is_training or page.state != Assignment.State.SUBMITTED:
        return None
    answers = answers_of(page, to_its_person=True)
    theirs = Participation.objects.get(study=page.study_id, person=page.person_id)
    submitted = tries_of(page.study_id, page.person_id).filter(state="submitted").count()
    assert page.study.version is not None
    return Feedback(
        answers=answers,
        right=sum(each.passed is True for each in answers),
        needed=needed(page.version, len(answers)),
        has_qualified=theirs.qualified_at is not None,
        tries_left=max(0, page.study.version.training_attempts - submitted),
        person=page.person_id,
    )

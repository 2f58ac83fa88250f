"""The queue of a reviewer as the desk lists it: a part of it, and the neighbours of a page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from hits.models import Assignment, Flag, Study, User
from hits.pipeline import bulk

LISTED = 50
MOST_NAMES = 2


@dataclass(frozen=True, slots=True)
class Filter:
    """Of which signal, or of whom, a reviewer sees pages."""

    signal: str = ""
    person: int | None = None

    @classmethod
    def of(cls, request: HttpRequest) -> "Filter":
        person = request.GET.get("person", "")
        known = person.isdecimal() and len(person) < 19
        return cls(request.GET.get("signal", "")[:20], int(person) if known else None)

    @property
    def query(self) -> str:
        """To be put behind an address."""
        given = {"signal": self.signal, "person": self.person}
        named = {name: value for name, value in given.items() if value}
        return f"?{urlencode(named)}" if named else ""

    def __bool__(self) -> bool:
        return bool(self.query)

    def queue(self, user: User, study: Study) -> QuerySet[Assignment]:
        found = bulk.matching(study, user=user, signal=self.signal, person=self.person)
        return found.select_related("study", "claim", "account")


@dataclass(frozen=True, slots=True)
class Listed:
    page: Assignment
    signals: list[str]
    more: int


@dataclass(frozen=True, slots=True)
class Queue:
    """The part of the queue around one page, and its neighbours for j and k."""

    listed: list[Listed]
    total: int
    position: int | None
    before: Assignment | None
    after: Assignment | None
    earlier: Assignment | None
    later: Assignment | None


def _before_it(assignment: Assignment) -> Q:
    doubt, submitted = assignment.doubt, assignment.submitted_at
    return (
        Q(doubt__gt=doubt)
        | Q(doubt=doubt, submitted_at__lt=submitted)
        | Q(doubt=doubt, submitted_at=submitted, pk__lt=assignment.pk)
    )


def following(queue: QuerySet[Assignment], assignment: Assignment) -> Assignment | None:
    """The page that follows in the order of the queue, or its first when none does."""
    if assignment.checked_at is None:
        return queue.first()
    later = queue.exclude(_before_it(assignment)).exclude(pk=assignment.pk)
    return later.first() or queue.exclude(pk=assignment.pk).first()


def around(queue: QuerySet[Assignment], assignment: Assignment) -> Queue:
    total = queue.count()
    position = queue.filter(_before_it(assignment)).count() if assignment.waits else 0
    start = position // LISTED * LISTED
    window = list(queue[max(start - 1, 0) : start + LISTED + 1])
    listed = with_signals(window[1 if start else 0 :][:LISTED])
    index = next((i for i, each in enumerate(window) if each.pk == assignment.pk), None)
    if index is None:
        return Queue(listed, total, None, None, window[0] if window else None, None, None)
    return Queue(
        listed=listed,
        total=total,
        position=position + 1,
        before=window[index - 1] if index else None,
        after=window[index + 1] if index + 1 < len(window) else None,
        earlier=window[0] if start else None,
        later=window[-1] if start + LISTED < total else None,
    )


def with_signals(pages: Sequence[Assignment]) -> list[Listed]:
    """Each page with the names of what was raised on it or on its person, the strongest first."""
    if not pages:
        return []
    about = Q(assignment__in=pages) | Q(assignment=None, person__in={p.person_id for p in pages})
    raised = Flag.objects.filter(about, study=pages[0].study_id).order_by("-doubt", "signal")
    by_page: dict[int, list[str]] = {}
    by_person: dict[int, list[str]] = {}
    for page, person, signal in raised.values_list("assignment", "person", "signal"):
        of = by_person.setdefault(person, []) if page is None else by_page.setdefault(page, [])
        of.append(signal)
    found = []
    for each in pages:
        own = by_page.get(each.pk, []) + by_person.get(each.person_id, [])
        names = list(dict.fromkeys(own))
        found.append(Listed(each, names[:MOST_NAMES], len(names[MOST_NAMES:])))
    return found


def signals_in(queue: QuerySet[Assignment], study: Study) -> list[tuple[str, int]]:
    """How many waiting pages each signal is raised on, for the filter."""
    waiting = queue.order_by().values("pk", "person")
    on_pages = Flag.objects.filter(study=study, assignment__in=waiting.values("pk"))
    found: dict[str, set[int]] = {}
    for signal, page in on_pages.values_list("signal", "assignment"):
        found.setdefault(signal, set()).add(page)
    of_people = Flag.objects.filter(study=study, assignment=None)
    signals_of: dict[int, list[str]] = {}
    for person, signal in of_people.values_list("person", "signal"):
        signals_of.setdefault(person, []).append(signal)
    for page, person in waiting.filter(person__in=signals_of).values_list("pk", "person"):
        for signal in signals_of[person]:
            found.setdefault(signal, set()).add(page)
    return Counter({signal: len(pages) for signal, pages in found.items()}).most_common()

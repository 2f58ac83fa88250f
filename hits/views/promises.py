"""What a publication promises workers and asks of them, in words."""

from hits.channels.contract import Requirement, Terms
from hits.models import Claim, Study
from hits.pipeline.terms import terms_at


def promised(study: Study, terms: Terms, compensated: Claim | None = None) -> list[tuple[str, str]]:
    """What a worker is promised and who may work, as a list of facts."""
    read = terms_at(study, terms.reward)
    rounded = "; the time is rounded up" if read.minutes else ""
    who = "\n".join(map(_requirement, terms.requirements)) or "anybody"
    minutes = int(terms.duration.total_seconds()) // 60
    return [
        ("Title", terms.title),
        ("Description", terms.description),
        ("Keywords", terms.keywords or "none"),
        ("Reward", f"${terms.reward:,.2f} a page"),
        *([] if compensated else [("They read", f"{read}{rounded}")]),
        ("Time", f"{minutes:,} minute{'' if minutes == 1 else 's'} for a page"),
        ("Stays", _days(terms.lifetime.days)),
        ("Approves itself", f"{_days(terms.auto_approval.days)} after it was submitted"),
        ("Who may work", f"{compensated.account.external_id} alone" if compensated else who),
    ]


def _days(days: int) -> str:
    return "1 day" if days == 1 else f"{days} days"


def _requirement(each: Requirement) -> str:
    values = ", ".join(map(str, each.values))
    known = {
        Requirement.APPROVED_HITS: f"at least {values} approved HITs",
        Requirement.APPROVAL_RATE: f"at least {values}% of HITs approved",
        Requirement.LOCALE: f"in {values}",
    }
    if each.qualification in known:
        return known[each.qualification]
    named = "Masters" if each.qualification == Requirement.MASTERS else each.qualification
    if each.comparator in _HAVING:
        return f"{_HAVING[each.comparator]} {named}"
    return f"{named}: {_COMPARED.get(each.comparator, each.comparator)} {values}"


_HAVING = {"Exists": "who has", "DoesNotExist": "who has not"}
_COMPARED = {
    "GreaterThanOrEqualTo": "at least",
    "GreaterThan": "more than",
    "EqualTo": "exactly",
    "LessThan": "less than",
    "LessThanOrEqualTo": "at most",
}

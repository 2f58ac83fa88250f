"""Erase: what says who a person is, and all that they wrote, is destroyed on their request. What
they chose stays, without them, so that counts still add up; that it was done is on record."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.db.models import Q, TextField
from django.db.models.functions import Cast
from django.utils import timezone
from rest_framework.authtoken.models import Token

from hits.models import (
    Account,
    Assignment,
    Claim,
    Decision,
    Erasure,
    Intent,
    Job,
    Judgment,
    Opinion,
    Participation,
    Person,
    PersonEvent,
    Release,
    StudyRow,
    Unit,
    User,
)
from hits.pipeline import places, shelf
from hits.pipeline.errors import NotAllowed, Refused
from hits.pipeline.people import IN_HOUSE
from hits.pipeline.submit import close
from hits.protocol import protocol

ERASED = "(erased)"
# Shorter ids could be part of anything; they are only replaced where they stand alone.
_SURELY_AN_ID = 6


def find(*, channel: str, identity: str) -> Person:
    """By the email of a login here, or by the id at a marketplace or in an imported file."""
    accounts = Account.objects.filter(channel=channel).select_related("person")
    if channel == IN_HOUSE:
        accounts = accounts.filter(user__email__iexact=identity.strip())
    else:
        accounts = accounts.filter(external_id=identity.strip())
    account = accounts.first()
    if account is None:
        raise Refused("Nobody is known here under this name.")
    return account.person


def check(*, person: Person, by: User) -> None:
    if not by.is_staff:
        raise NotAllowed("Only an admin erases a person.")
    if person.erased_at is not None:
        raise Refused("This person has been erased already.")
    if person.accounts.filter(user=by).exists():
        raise Refused("You cannot erase yourself: ask another admin.")
    claims = Claim.objects.filter(account__person=person)
    owed = Q(theirs=Claim.Theirs.SUBMITTED) | Q(intents__settled_at__isnull=True, intents__gt=0)
    if claims.filter(owed).exists():
        raise Refused("Work of theirs waits for its payment. Decide on it first, then erase.")


def outlook(person: Person) -> dict[str, int]:
    """What there is of a person, before it is destroyed."""
    theirs = Judgment.objects.filter(slot__assignment__person=person)
    return {
        "accounts": person.accounts.count(),
        "pages": person.assignments.count(),
        "judgments": theirs.count(),
        "releases": len(_releases_with_words(_written_by(person))),
    }


def erase(*, person: Person, by: User) -> Erasure:
    """All in one transaction; files go last, so that nothing is lost if it fails."""
    with transaction.atomic():
        person = Person.objects.select_for_update().get(pk=person.pk)
        check(person=person, by=by)
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL hits.erasing = 'on'")
        identities = _identities(person)
        written = _written_by(person)
        withdrawn = _releases_with_words(written)
        counts = {
            "pages": _blank_pages(person),
            "judgments": _blank_judgments(written),
            "accounts": _forget_accounts(person),
            "releases_withdrawn": _withdraw(withdrawn),
        }
        _replace_identities(identities)
        Person.objects.filter(Q(pk=person.pk) | Q(same_as=person)).update(erased_at=timezone.now())
        made = Erasure.objects.create(person=person, by=by, counts=counts)
    for release in withdrawn:
        shelf.remove(release)
    _clean_files(identities)
    return made


class _Written:
    """A judgment with words in it, and what is left of its answer without them."""

    def __init__(self, judgment: Judgment) -> None:
        self.judgment = judgment
        self.study = judgment.slot.assignment.study
        self.kind = protocol(self.study.protocol)
        answer = judgment.answer
        self.left = None if answer is None else self.kind.without_words(answer)

    @property
    def has_words(self) -> bool:
        return bool(self.judgment.problem) or self.left != self.judgment.answer

    @property
    def only_remarks(self) -> bool:
        """Nothing but what a release can leave out."""
        if self.left is None or self.judgment.answer is None:
            return self.judgment.answer is None
        answer = self.judgment.answer
        return all(self.left[name] == answer[name] for name in answer.keys() - self.kind.remarks)

    def texts(self) -> Iterable[str]:
        """What they wrote as an answer, which later studies may be asking about."""
        answer = self.judgment.answer or {}
        left = self.left or {}
        for name in self.kind.written & answer.keys():
            if answer[name] and left.get(name) != answer[name]:
                yield answer[name]


def _written_by(person: Person) -> list[_Written]:
    theirs = Judgment.objects.filter(slot__assignment__person=person).order_by("pk")
    found = map(_Written, theirs.select_related("slot__assignment__study"))
    return [each for each in found if each.has_words]


def _releases_with_words(written: list[_Written]) -> list[Release]:
    """Those whose files hold what the person wrote; others hold a pseudonym and choices alone."""
    studies: dict[int, bool] = {}
    for each in written:
        studies[each.study.pk] = studies.get(each.study.pk, True) and each.only_remarks
        studies |= dict.fromkeys(_later_studies_with(each), False)
    found = Release.objects.filter(studies__in=studies, withdrawn_at=None).distinct()
    kept = [pk for pk, only_remarks in studies.items() if only_remarks]
    quiet = found.filter(free_text=Release.FreeText.LEFT_OUT).exclude(
        studies__in=studies.keys() - set(kept)
    )
    return list(found.exclude(pk__in=quiet.values("pk")).order_by("pk"))


def _later_studies_with(written: _Written) -> set[int]:
    """Those that this one feeds and that ask about what was written here."""
    asked = Unit.objects.filter(study__fed_by=written.study).annotate(
        told=Cast("payload", TextField())
    )
    return {
        study
        for text in written.texts()
        for study in asked.filter(told__contains=json.dumps(text, ensure_ascii=False)).values_list(
            "study", flat=True
        )
    }


def _blank_pages(person: Person) -> int:
    pages = Assignment.objects.filter(person=person)
    for page in pages.select_for_update(no_key=True).filter(state="open").order_by("pk"):
        close(page, Assignment.State.RETURNED)
    decided = Decision.objects.filter(assignment__person=person, by__isnull=False)
    decided.update(reason=ERASED)
    Opinion.objects.filter(assignment__person=person).update(reason=ERASED)
    PersonEvent.objects.filter(person=person).update(text=ERASED)
    Participation.objects.filter(person=person).exclude(excluded_reason="").update(
        excluded_reason=ERASED
    )
    return pages.update(draft={})


def _blank_judgments(written: list[_Written]) -> int:
    for each in written:
        judgment, slot = each.judgment, each.judgment.slot
        if each.left is None and judgment.answer is not None:
            places.mark_broken(slot.assignment, [slot.position])
        _forget_in_later_studies(each)
        problem = ERASED if judgment.problem or each.left is None else ""
        Judgment.objects.filter(pk=judgment.pk).update(answer=each.left, problem=problem)
    return len(written)


def _forget_in_later_studies(written: _Written) -> None:
    """What somebody wrote may be asked about in a study that this one feeds; no more of it is."""
    for text in written.texts():
        told = json.dumps(text, ensure_ascii=False)
        for model, column in ((Unit, "payload"), (StudyRow, "content")):
            _replace_in(
                model,
                column,
                told,
                f'"{ERASED}"',
                also=", excluded = true" if model is Unit else "",
                where="study_id IN (SELECT from_study_id FROM hits_study_fed_by"
                " WHERE to_study_id = %(study)s)",
                study=written.study.pk,
            )


def _forget_accounts(person: Person) -> int:
    accounts = list(person.accounts.select_related("user"))
    for account in accounts:
        if account.user is not None:
            _forget_login(account.user)
        for claim in account.claims.all():
            Claim.objects.filter(pk=claim.pk).update(ref=f"erased-{claim.pk}")
            Intent.objects.filter(claim=claim).update(request={}, answer=None, message="")
        Account.objects.filter(pk=account.pk).update(external_id=f"erased-{account.pk}")
    return len(accounts)


def _forget_login(user: User) -> None:
    for log in (AccessAttempt, AccessLog, AccessFailureLog):
        log.objects.filter(username__iexact=user.username).delete()
    Token.objects.filter(user=user).delete()
    LogEntry.objects.filter(
        content_type__app_label="hits", content_type__model="user", object_id=str(user.pk)
    ).update(object_repr=ERASED, change_message="")
    for session in Session.objects.iterator():
        if session.get_decoded().get("_auth_user_id") == str(user.pk):
            session.delete()
    user.memberships.all().delete()
    user.username = user.email = f"erased-{user.pk}@erased.invalid"
    user.first_name = user.last_name = ""
    user.is_active = user.is_staff = user.is_superuser = user.is_researcher = False
    user.last_login = None
    user.set_unusable_password()
    user.save()


def _identities(person: Person) -> list[str]:
    found = []
    for account in person.accounts.select_related("user"):
        if account.channel != IN_HOUSE:
            found.append(account.external_id)
        found += list(account.claims.values_list("ref", flat=True))
        if account.user is not None:
            found.append(account.user.email)
    return found


def _replace_identities(identities: list[str]) -> None:
    """In what was sent to and heard from marketplaces, and in what jobs were told and say."""
    for identity in identities:
        alone = json.dumps(identity, ensure_ascii=False)
        for column in ("request", "answer"):
            _replace_in(Intent, column, alone, f'"{ERASED}"')
        for column in ("arguments", "result"):
            _replace_in(Job, column, alone, f'"{ERASED}"')
        if len(identity) >= _SURELY_AN_ID:
            for model, column in ((Job, "log"), (Job, "message"), (Intent, "message")):
                _replace_in(model, column, identity, ERASED)


def _replace_in(
    model: Any,
    column: str,
    words: str,
    by: str,
    *,
    also: str = "",
    where: str = "true",
    **values: Any,
) -> None:
    table = model._meta.db_table
    kind = model._meta.get_field(column).db_type(connection)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET {column} ="
            f" replace({column}::text, %(words)s, %(by)s)::{kind}{also}"
            f" WHERE position(%(words)s IN {column}::text) > 0 AND {where}",
            {"words": words, "by": by, **values},
        )


def _withdraw(releases: list[Release]) -> int:
    found = Release.objects.filter(pk__in=[release.pk for release in releases])
    return found.update(withdrawn_at=timezone.now())


def _clean_files(identities: list[str]) -> None:
    """Lines of uploaded files, and of what was refused of them, that name the person."""
    words = [each.encode() for each in identities if len(each) >= _SURELY_AN_ID]
    for folder in ("imports", "uploads"):
        for path in sorted((Path(settings.DATA_DIR) / folder).rglob("*")):
            if path.is_file() and words:
                _without_lines(path, words)


def _without_lines(path: Path, words: list[bytes]) -> None:
    with path.open("rb") as file:
        if not any(word in line for line in file for word in words):
            return
    cleaned = path.with_name(f".{path.name}.cleaned")
    with path.open("rb") as file, cleaned.open("wb") as out:
        out.writelines(line for line in file if not any(word in line for word in words))
    cleaned.replace(path)

"""What the commands about one study have in common."""

from typing import Any, Protocol

from django.core.management.base import CommandError

from hits.models import Role, Study, User


class Output(Protocol):
    def write(self, text: str, /) -> Any: ...


def study_named(slug: str) -> Study:
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        raise CommandError(f"There is no study {slug!r}.")
    return study


def researcher_named(email: str, *, study: Study) -> User:
    """Who stands on record for what a command does in the study."""
    by = User.objects.filter(email=email).first()
    if by is None:
        raise CommandError(f"There is no login {email!r}.")
    if not Study.objects.of(by, Role.RESEARCHER).contains(study):
        raise CommandError(f"{by.email} is no researcher of {study.slug}.")
    return by


def tell_refused(output: Output, result: dict[str, Any]) -> None:
    for reason, number in result["reasons"].items():
        output.write(f"refused: {number:,} × {reason}")
    if result["refused"]:
        output.write(f"Each refusal with its line and reason: {result['refusals']}")

"""What the commands that import lines into a study have in common."""

from typing import Any, Protocol

from django.core.management.base import CommandError

from hits.models import Study


class Output(Protocol):
    def write(self, text: str, /) -> Any: ...


def study_named(slug: str) -> Study:
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        raise CommandError(f"There is no study {slug!r}.")
    return study


def tell_refused(output: Output, result: dict[str, Any]) -> None:
    for reason, number in result["reasons"].items():
        output.write(f"refused: {number:,} × {reason}")
    if result["refused"]:
        output.write(f"Each refusal with its line and reason: {result['refusals']}")

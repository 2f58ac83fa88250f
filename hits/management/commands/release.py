"""Release one or several studies."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.following import do
from hits.models import Release, Study, User
from hits.pipeline import shelf
from hits.pipeline.release import Wish, as_arguments


class Command(BaseCommand):
    help = "Make a release of one or several studies, and print where its files are."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the release's short name")
        parser.add_argument("studies", nargs="+", help="short names of studies")
        parser.add_argument("--by", required=True, help="the email of who makes it")
        parser.add_argument("--licence", help="otherwise that of the version before or the corpus")
        parser.add_argument(
            "--free-text",
            choices=Release.FreeText.values,
            help="what becomes of remarks and reported problems; otherwise as in the version "
            "before, or kept",
        )
        parser.add_argument(
            "--step",
            choices=["major", "minor"],
            default="",
            help="otherwise minor where the same studies have only grown",
        )

    def handle(self, **options: Any) -> None:
        studies = list(Study.objects.filter(slug__in=options["studies"]))
        if missing := set(options["studies"]) - {study.slug for study in studies}:
            raise CommandError(f"There is no study {', '.join(sorted(missing))}.")
        by = User.objects.filter(email=options["by"]).first()
        if by is None:
            raise CommandError(f"There is no login {options['by']!r}.")
        wish = Wish(
            licence=options["licence"], free_text=options["free_text"], step=options["step"]
        )
        arguments = as_arguments(studies=studies, name=options["name"], by=by, wish=wish)
        result = do(kind="release", arguments=arguments, study=studies[0])
        made = Release.objects.get(pk=result["release"])
        self.stdout.write(str(made))
        for file in made.files.select_related("release"):
            self.stdout.write(f"{file.sha256}  {shelf.address_of(file)}")

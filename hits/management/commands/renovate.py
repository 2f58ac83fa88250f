"""Let machines make coarse texts finer, as rows of a study of renovation."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.following import follow
from hits.management.lines import study_named, tell_refused
from hits.pipeline.errors import Refused
from hits.pipeline.propose import QUEUES
from hits.pipeline.renovate import ask, captioners, scorers


class Command(BaseCommand):
    help = "Find coarse texts, propose details for them, and keep those that fit as rows."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the short name of a study of renovation")
        parser.add_argument("--scorer", required=True, help=", ".join(scorers()))
        parser.add_argument("--captioner", default="", help=", ".join(captioners()))
        parser.add_argument("--file", type=Path, help="details or texts from elsewhere instead")
        parser.add_argument("--name", default="", help="of what made the file")
        parser.add_argument("--of-version", default="1", help="of what made the file")
        parser.add_argument(
            "--proposal", type=int, help="caption to image: texts whose image is not first"
        )
        parser.add_argument("--train-split", default="train", help="what the scorer learns from")
        parser.add_argument("--sample", type=int, help="only so many of the finer texts, at random")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--queue", choices=QUEUES, default="", help="where its parts are done")

    def handle(self, **options: Any) -> None:
        file: Path | None = options["file"]
        if file is not None and not file.is_file():
            raise CommandError(f"There is no file {file}.")
        given = {name: options[name] for name in ("scorer", "captioner", "proposal", "queue")}
        try:
            job = ask(
                study=study_named(options["study"]),
                by=None,
                source=str(file.resolve()) if file else "",
                called=file.name if file else "",
                name=options["name"] or (file.stem if file else ""),
                version=options["of_version"],
                train_split=options["train_split"],
                sample=options["sample"],
                seed=options["seed"],
                **given,
            )
        except Refused as refused:
            raise CommandError(str(refused)) from None
        result = follow(job)
        self.stdout.write(
            f"{result['texts']:,} texts, {result['coarse']:,} coarse, "
            f"{result['details']:,} details, {result['fitting']:,} fit, "
            f"{result['proposed']:,} finer texts: "
            f"{result['added']:,} added, {result['there']:,} there already"
        )
        if result["unknown"]:
            self.stdout.write(f"{result['unknown']:,} captions of the file are not in the corpus")
        for side in ("before", "after") if "statistics" in result else ():
            line = result["statistics"][side]
            means = ", ".join(f"{line[of]:.2f} {of}" for of in ("nouns", "adjectives", "words"))
            self.stdout.write(f"{side}: {means} a text")
        tell_refused(self.stdout, result)

"""Say what a study would cost, take and find, before a cent is paid."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from hits.management.following import do
from hits.management.lines import study_named


class Command(BaseCommand):
    help = (
        "Rehearses a draft or a study on simulated crowds: cost, duration, precision and recall of "
        "the positives, how the quality rules fare, and how many judgments tell two systems apart."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("--people", type=int, default=50, help="default 50")
        parser.add_argument("--bad", type=float, default=0.1, metavar="SHARE", help="default 0.1")
        parser.add_argument("--positives", type=float, default=0.3, metavar="SHARE")
        parser.add_argument("--hours-a-day", type=float, default=1.0, help="of a person; default 1")
        parser.add_argument("--seed", type=int, default=0)

    def handle(self, **options: Any) -> None:
        study = study_named(options["study"])
        arguments = {
            "study": study.pk,
            "people": options["people"],
            "bad_share": options["bad"],
            "positives": options["positives"],
            "hours_a_day": options["hours_a_day"],
            "seed": options["seed"],
        }
        for line in _told(do(kind="rehearse", arguments=arguments, study=study)):
            self.stdout.write(line)


def _told(found: dict[str, Any]) -> list[str]:
    lines = [
        f"{found['judged_pages']:,} pages, ${found['cost']}, ${found['cost_with_fee']} with a "
        f"marketplace's fee, ${found['cost_with_replacements']} with {found['replaced_pages']:,} "
        "pages in place of those that the rules set aside",
        f"{found['hours']:,.1f} hours of work, about {found['days']:,.1f} days",
    ]
    if found["positives"]:
        lines += [
            f"positives: precision {_share(found['positives']['precision'])}, recall "
            f"{_share(found['positives']['recall'])}",
            f"without flagged pages: precision {_share(found['checked']['precision'])}, recall "
            f"{_share(found['checked']['recall'])}",
        ]
    rules = found["rules"]
    lines.append(
        f"the quality rules flag {_share(rules['flagged'])} of pages and find "
        f"{_share(rules['recall'])} of bad ones; {_share(rules['good_set_aside'])} of good pages "
        "are flagged"
    )
    lines += [
        f"preferred by {each['preference']:.0%}: {each['judgments']:,} judgments on "
        f"{each['units']:,} units tell two systems apart"
        for each in found["power"]
    ]
    return lines


def _share(figure: dict[str, float]) -> str:
    return f"{figure['mean']:.1%} ({figure['low']:.1%}–{figure['high']:.1%})"

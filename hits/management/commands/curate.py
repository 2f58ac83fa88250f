"""Remove items and pairs from a study's data, ask for judgments again, and make golds."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.lines import researcher_named, study_named
from hits.models import Study, User
from hits.pipeline import golds, rejudge, remove
from hits.pipeline.doubtful import denied, rated_low
from hits.pipeline.errors import PipelineError
from hits.pipeline.naming import keys_of


class Command(BaseCommand):
    help = (
        "Removes items and pairs, restores them, lists doubtful pairs, asks for judgments of "
        "chosen units or of a sample again, makes golds of units that people agree on and retires "
        "golds. All but the list is put on record with its reason."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        acts = parser.add_subparsers(dest="act", required=True)
        for name, what in [("remove", "an item or a pair"), ("restore", "what was removed")]:
            act = acts.add_parser(name, help=what)
            act.add_argument("--image", default="", help="its id in the corpus")
            act.add_argument("--caption", default="", help="its id in the corpus")
        doubtful = acts.add_parser("doubtful", help="list pairs that may not belong together")
        doubtful.add_argument("--rated", type=Path, help="a CSV of image-text scores")
        doubtful.add_argument("--below", type=float, default=2.5, help="default 2.5")
        again = acts.add_parser("rejudge", help="units, by keys or outside ids, one a line")
        again.add_argument("units", type=Path, help="a file of units")
        again.add_argument("--more", type=int, default=0, help="judgments of each")
        again.add_argument("--set-aside", action="store_true", help="earlier judgments")
        overlap = acts.add_parser("overlap", help="a sample that several people judge")
        overlap.add_argument("units", type=int)
        overlap.add_argument("judgments", type=int, help="of each, in all")
        overlap.add_argument("--seed", type=int, default=0)
        promote = acts.add_parser("golds", help="make golds of units that people agree on")
        promote.add_argument("--most", type=int, default=50, help="default 50")
        promote.add_argument("--judgments", type=int, default=2, help="at least; default 2")
        promote.add_argument("--agreement", type=float, default=1.0, help="share; default 1")
        retire = acts.add_parser("retire", help="a gold")
        retire.add_argument("unit", help="its key")
        for name, act in acts.choices.items():
            if name != "doubtful":
                act.add_argument("--reason", required=True)
                act.add_argument("--by", metavar="EMAIL", help="whose name the record has")

    def handle(self, **options: Any) -> None:
        study = study_named(options["study"])
        email = options.get("by")
        by = researcher_named(email, study=study) if email else None
        try:
            for line in getattr(self, f"_{options['act']}")(study, by, options):
                self.stdout.write(line)
        except PipelineError as refusal:
            raise CommandError(refusal.message) from None

    def _remove(self, study: Study, by: User | None, options: dict[str, Any]) -> list[str]:
        act = remove.remove if options["act"] == "remove" else remove.restore
        thing = remove.named(study, image=options["image"], caption=options["caption"])
        made = act(study=study, things=[thing], reason=options["reason"], by=by)
        return [f"{each.what}: {each.get_kind_display()}, {each.units:,} units" for each in made]

    _restore = _remove

    def _doubtful(self, study: Study, by: User | None, options: dict[str, Any]) -> list[str]:
        if options["rated"]:
            with options["rated"].open(encoding="utf-8") as file:
                found = rated_low(study, file, options["below"])
        else:
            found = denied(study)
        return [f"{each.image}\t{each.caption}\t{each.text}\t{each.why}" for each in found]

    def _rejudge(self, study: Study, by: User | None, options: dict[str, Any]) -> list[str]:
        again = rejudge.rejudge(
            study=study,
            keys=keys_of(study, options["units"].read_text().splitlines()),
            more=options["more"],
            set_aside=options["set_aside"],
            reason=options["reason"],
            by=by,
        )
        return [f"{again.units:,} units are asked again, {again.set_aside:,} judgments set aside"]

    def _overlap(self, study: Study, by: User | None, options: dict[str, Any]) -> list[str]:
        given = {name: options[name] for name in ("units", "judgments", "seed", "reason")}
        again = rejudge.overlap(study=study, by=by, **given)
        return [f"{again.units:,} units want {options['judgments']} judgments each"]

    def _golds(self, study: Study, by: User | None, options: dict[str, Any]) -> list[str]:
        given = {name: options[name] for name in ("agreement", "judgments", "most")}
        keys = [each.unit.key for each in golds.promising(study=study, **given)]
        if not keys:
            return ["No unit has so many judgments that agree."]
        given = {name: options[name] for name in ("agreement", "reason")}
        made = golds.promote(study=study, keys=keys, by=by, **given)
        return [f"{len(made):,} golds more"]

    def _retire(self, study: Study, by: User | None, options: dict[str, Any]) -> list[str]:
        gold = golds.retire(study=study, key=options["unit"], reason=options["reason"], by=by)
        return [f"{gold.key} is on no page any more"]

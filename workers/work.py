"""What each kind of job does: fetch what it names, and call the pipeline."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hits.models import Corpus, Job, Proposal, Publication, Study, Unit, User
from hits.pipeline.bulk import decide_many, take_back_many
from hits.pipeline.doubt import read_signals
from hits.pipeline.evaluate import evaluate
from hits.pipeline.gold_doubt import recheck
from hits.pipeline.jobs import Progress, Work
from hits.pipeline.judgments import import_judgments
from hits.pipeline.launch import launch
from hits.pipeline.ledger import settle_due
from hits.pipeline.load import load
from hits.pipeline.open import add_units, in_words, open_study, units_by_pool
from hits.pipeline.recipe import go_on
from hits.pipeline.reconcile import reconcile, reconcile_due
from hits.pipeline.rehearse import rehearse
from hits.pipeline.release import Wish, release
from hits.pipeline.replace import replace_all
from hits.pipeline.report import compute_report
from hits.pipeline.rows import import_rows
from hits.pipeline.runs import Run
from hits.pipeline.simulate import simulate_by_import
from workers.encoding import encode_part
from workers.precomputed import propose_file
from workers.propose import propose_candidates
from workers.renovating import renovate_part, renovate_texts
from workers.searching import search_part


def _import(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    return load(progress=progress, **arguments).as_json()


def _propose(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    corpus = Corpus.objects.get(pk=arguments["corpus"])
    proposals = propose_candidates(
        corpus=corpus,
        kind=arguments["machine"],
        directions=arguments["directions"],
        split=arguments["split"],
        train_split=arguments["train_split"],
        depth=arguments.get("depth", 25),
        query_sample=arguments.get("query_sample"),
        seed=arguments.get("seed", 0),
        pool=arguments.get("pool"),
        progress=progress,
    )
    progress.say(" ".join(map(_kept, proposals)))
    return {"proposals": [proposal.pk for proposal in proposals]}


def _propose_file(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    given = {**arguments, "corpus": Corpus.objects.get(pk=arguments["corpus"])}
    given["path"] = Path(given.pop("source"))
    given["ids"] = Path(given["ids"]) if given.get("ids") else None
    proposals = propose_file(progress=progress, **given)
    progress.say(" ".join(map(_kept, proposals)))
    return {"proposals": [proposal.pk for proposal in proposals]}


def _part(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """One part of what another worker was asked for."""
    PARTS[arguments["work"]](arguments, progress)
    return {}


def _kept(proposal: Proposal) -> str:
    direction, queries = proposal.get_direction_display().capitalize(), proposal.queries
    lists = f"{queries:,} ranked list{'' if queries == 1 else 's'}"
    return f"{direction}: {lists}, the top {proposal.depth} of each kept."


def _open(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    study = Study.objects.get(pk=arguments["study"])
    left_out: Counter[str] = Counter()
    if progress.job.attempts > 1 and study.state != Study.State.DRAFT:
        # An earlier attempt opened it, and was gone before it could say so.
        units = units_by_pool(study)
    else:
        units = open_study(study=study, tell=progress, left_out=left_out)
    progress.say(f"{sum(units.values()):,} units made{in_words(left_out)}.")
    return {"units": units, "left_out": dict(left_out)}


def _feed(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    left_out: Counter[str] = Counter()
    study = Study.objects.get(pk=arguments["study"])
    units = add_units(study=study, tell=progress, left_out=left_out)
    made = sum(units.values())
    news = f"{made:,} more unit{'' if made == 1 else 's'}" if made else "Nothing new"
    progress.say(f"{news}{in_words(left_out)}.")
    return {"units": units, "left_out": dict(left_out)}


def _rows(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    return import_rows(
        study=Study.objects.get(pk=arguments["study"]),
        source=arguments["source"],
        called=arguments.get("called", ""),
        report=arguments.get("report", ""),
        tell=progress,
    )


def _judgments(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    return import_judgments(
        study=Study.objects.select_related("version").get(pk=arguments["study"]),
        source=arguments["source"],
        by=User.objects.get(pk=arguments["by"]) if arguments.get("by") else None,
        called=arguments.get("called", ""),
        report=arguments.get("report", ""),
        raise_wanted=arguments.get("raise_wanted", False),
        tell=progress,
    )


def _rehearse(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    given = {name: value for name, value in arguments.items() if name != "study"}
    study = Study.objects.select_related("version", "corpus").get(pk=arguments["study"])
    return rehearse(study=study, tell=progress, **given)


def _simulate(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    given = {name: value for name, value in arguments.items() if name != "study"}
    study = Study.objects.select_related("version").get(pk=arguments["study"])
    return simulate_by_import(study=study, tell=progress, **given)


def _release(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    made = release(
        studies=list(Study.objects.filter(pk__in=arguments["studies"])),
        name=arguments["name"],
        by=User.objects.get(pk=arguments["by"]),
        wish=Wish(**arguments.get("wish", {})),
        tell=progress,
    )
    progress.say(f"{made} is there.")
    return {"release": made.pk}


def _evaluate(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    tables = evaluate(progress.job, tell=progress)
    progress.say(f"{len(tables)} table{'' if len(tables) == 1 else 's'} made.")
    return {"tables": len(tables)}


def _report(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    study = Study.objects.select_related("version").get(pk=arguments["study"])
    made = compute_report(study, tell=progress)
    progress.say(f"{len(made.tables)} tables of {made.judgments:,} judgments.")
    return {"tables": len(made.tables), "judgments": made.judgments}


def _publish(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    return launch(_publication(arguments), progress)


def _reconcile(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    if "publication" in arguments:
        return reconcile(_publication(arguments), progress)
    return reconcile_due(progress)


def _settle(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    return settle_due(progress=progress)


def _publication(arguments: dict[str, Any]) -> Publication:
    found = Publication.objects.select_related("study__version", "compensates")
    return found.get(pk=arguments["publication"])


def _recipe(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    run = Run.of(
        recipe=arguments["recipe"],
        corpus=Corpus.objects.get(pk=arguments["corpus"]),
        by=User.objects.get(pk=arguments["by"]),
        name=arguments["name"],
    )
    waiting = go_on(run, progress)
    progress.say(f"Now: {waiting.title}" if waiting else "Everything is there.")
    return {"waiting": waiting.key if waiting else None}


def _signals(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    return read_signals(Study.objects.select_related("version").get(pk=arguments["study"]))


def _decide(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    return decide_many(job=progress.job, tell=progress)


def _take_back(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    return take_back_many(
        by=User.objects.get(pk=arguments["by"]),
        job=Job.objects.get(pk=arguments["job"]),
        tell=progress,
    )


def _recheck(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    return recheck(
        unit=Unit.objects.get(pk=arguments["unit"]),
        by=User.objects.filter(pk=arguments["by"]).first(),
    )


def _replace(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
    return {"tickets": replace_all()}


PARTS: dict[str, Callable[[dict[str, Any], Progress], None]] = {
    "encode": encode_part,
    "search": search_part,
    "renovate": renovate_part,
}
WORK: dict[str, Work] = {
    "import": _import,
    "propose": _propose,
    "propose_file": _propose_file,
    "renovate": renovate_texts,
    "part": _part,
    "open": _open,
    "feed": _feed,
    "rows": _rows,
    "judgments": _judgments,
    "simulate": _simulate,
    "rehearse": _rehearse,
    "release": _release,
    "evaluate": _evaluate,
    "report": _report,
    "publish": _publish,
    "reconcile": _reconcile,
    "settle": _settle,
    "recipe": _recipe,
    "signals": _signals,
    "decide": _decide,
    "take_back": _take_back,
    "recheck": _recheck,
    "replace": _replace,
}

"""A data card in Markdown, written from the facts of a manifest and nothing else. Its head is what
the Hugging Face hub and `datasets.load_dataset` read."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hits.exporters.formats import PART_OF_AN_ANSWER

NOT_KNOWN = "not known"
_MARKUP = re.compile(r"[\\`*_\[\]<>|&]")
_WORDS = {
    "kept": "Remarks and reported problems are as people wrote them.",
    "scrubbed": "Addresses, handles, telephone numbers and worker ids were removed from remarks "
    "and reported problems.",
    "left_out": "Remarks and reported problems are left out.",
}


def card(manifest: Mapping[str, Any], files: Iterable[str]) -> str:
    return "\n".join([*_head(manifest), *_body(manifest, sorted(files)), ""])


def _head(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield "---"
    yield f"pretty_name: {manifest['release']} {manifest['version']}"
    yield "license: other"
    # A text in JSON is one in YAML, too, on one line.
    yield f"license_name: {json.dumps(_licence(manifest), ensure_ascii=False)}"
    yield "configs:"
    for table in ("judgments", "units"):
        yield f"- config_name: {table}"
        yield f"  data_files: {table}.parquet"
        if table == "judgments":
            yield "  default: true"
    yield "---"


def _licence(stated: Mapping[str, Any]) -> str:
    return _on_one_line(stated["licence"]) or "not stated"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _as_written(text: str) -> str:
    """On one line, and neither Markdown nor HTML."""
    return _MARKUP.sub(r"\\\g<0>", _on_one_line(text))


def _body(manifest: Mapping[str, Any], files: list[str]) -> Iterator[str]:
    yield f"\n# {manifest['release']} {manifest['version']}\n"
    yield f"Licence: {_as_written(_licence(manifest))}."
    yield f"The last page in it was submitted at {manifest['last_submitted_at'] or NOT_KNOWN}; it"
    yield f"holds what was decided up to decision {manifest['last_decision']}. Made by"
    yield f"{manifest['software']}."
    for study in manifest["studies"]:
        yield from _study(study)
    yield "\n## Changes\n"
    yield from (f"- {_as_written(each)}" for each in manifest["changes"])
    yield "\n## Files\n"
    yield from (f"- `{name}`" for name in files)
    yield "\n`judgments` has one row a judgment, `units` one row a unit with how often each answer"
    yield "was given beside what people said together; each as CSV, JSON lines and Parquet."
    yield from _columns(manifest["columns"])
    yield "\n## People\n"
    yield "A person is a pseudonym made with a key that is kept apart from the data."
    yield _WORDS[manifest["free_text"]]
    yield "In CSV, a quote mark stands before cells that a spreadsheet would take for a formula."


def _study(study: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n## Study {study['study']}\n"
    yield f"{_as_written(study['name'])}, protocol `{study['protocol']}`,"
    yield f"on the corpus `{study['corpus']}` (licence: {_as_written(_licence(study))}).\n"
    yield "| | |"
    yield "| --- | --- |"
    yield from (f"| {name} | {value} |" for name, value in _figures(study))
    if study["pages_not_used_by_reason"]:
        yield "\nPages that are not used, by reason:\n"
        yield from (
            f"- {_as_written(reason)}: {count:,}"
            for reason, count in study["pages_not_used_by_reason"].items()
        )


def _figures(study: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    agreement = study["agreement"]
    yield "people", f"{study['people']:,}"
    if "simulated_judgments" in study:
        yield "judgments made up, to rehearse", f"{study['simulated_judgments']:,}"
    yield "dates", f"{study['first_day'] or NOT_KNOWN} to {study['last_day'] or NOT_KNOWN}"
    yield "median time for a page", _or_not_known(study["median_page_seconds"], "{:,.0f} s")
    yield "median pay an hour", _or_not_known(study["median_hourly_pay"], "${:,.2f}")
    yield "units judged", f"{study['units_judged']:,} ({study['units_complete']:,} complete)"
    for outcome, count in study["judgments"].items():
        yield f"judgments, {outcome.replace('_', ' ')}", f"{count:,}"
    alpha = agreement["krippendorff_alpha_nominal"]
    yield "Krippendorff’s alpha, nominal", _or_not_known(alpha, "{:.3f}")
    yield "pairs of answers alike", _or_not_known(agreement["answers_alike"], "{:.1%}")
    yield "units with two answers or more", f"{agreement['units_with_two_answers']:,}"
    yield "versions of settings and wording", str(len(study["versions"]))


def _or_not_known(value: float | None, form: str) -> str:
    return NOT_KNOWN if value is None else form.format(value)


def _columns(columns: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for table, meanings in columns.items():
        yield f"\n### Columns of {table}\n"
        yield "| | |"
        yield "| --- | --- |"
        for name, meaning in meanings.items():
            told = meaning.replace("|", "\\|") or PART_OF_AN_ANSWER
            yield f"| `{name}` | {told} |"

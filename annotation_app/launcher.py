"""Starts and stops everything that runs on one machine: python -m annotation_app.launcher."""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType

from rich.console import Console

from annotation_app.demo import BASE_DIR, DemoError, run_demo
from annotation_app.demo_marketplace import has_marketplace, marketplace_environment
from annotation_app.embedded import (
    ServersError,
    erase_data,
    local_secret,
    servers,
    urls_of_running_servers,
)
from annotation_app.processes import dies_with_parent

STOP_SECONDS = 30
ASK_AGAIN_SECONDS = 0.02
FEWEST_IMAGES, MOST_IMAGES = 50, 100_000


class StopRequested(BaseException):
    def __init__(self, number: int) -> None:
        self.number = number


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        with _unwinding_when_stopped():
            return ACTIONS[options.action](options)
    except (ServersError, DemoError) as error:
        Console(stderr=True).print(
            str(error), style="red", markup=False, highlight=False, soft_wrap=True
        )
        return 1
    except StopRequested as stop:
        return 128 + stop.number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m annotation_app.launcher")
    actions = parser.add_subparsers(dest="action", required=True)
    demo = actions.add_parser("demo", help="the whole application with a study in it")
    demo.add_argument("--port", type=int, default=_port())
    demo.add_argument("--images", type=_images, default=400, help="in its corpus, 50 to 100,000")
    run = actions.add_parser("run", help="a command, with PostgreSQL and Valkey running")
    run.add_argument("--fast", action="store_true", help="data that need not survive a crash")
    run.add_argument("command", nargs="+", metavar="COMMAND")
    erase = actions.add_parser("erase", help="remove the folder with all its data")
    for action in (demo, run, erase):
        action.add_argument("--folder", type=Path, default=BASE_DIR / "var")
    return parser


def _images(text: str) -> int:
    if not text.isdecimal() or not FEWEST_IMAGES <= int(text) <= MOST_IMAGES:
        raise argparse.ArgumentTypeError(f"from {FEWEST_IMAGES} to {MOST_IMAGES:,}, not {text}")
    return int(text)


def _port() -> int:
    return int(os.environ.get("PORT") or 8000)


def _demo(options: argparse.Namespace) -> int:
    folder = options.folder.absolute()
    environment = {
        **_demo_addresses(folder, options.port),
        **_local_environment(folder),
        "DEBUG": "off",
        "ENVIRONMENT": "production",
    }
    with suppress(StopRequested):
        run_demo(folder=folder, port=options.port, images=options.images, environment=environment)
    return 0


def _run(options: argparse.Namespace) -> int:
    folder = options.folder.absolute()
    shared = urls_of_running_servers(folder)
    with nullcontext(shared) if shared else servers(folder, durable=not options.fast) as urls:
        environment = _local_environment(folder) | urls
        if has_marketplace(folder):
            environment = _demo_addresses(folder, _port()) | environment
        return _run_command(options.command, environment)


def _demo_addresses(folder: Path, port: int) -> dict[str, str]:
    """Where the demo is found: its commands send people, and simulated ones, there."""
    return {"SITE_URL": f"http://127.0.0.1:{port}", **marketplace_environment(folder, port)}


def _erase(options: argparse.Namespace) -> int:
    erase_data(options.folder.absolute())
    return 0


def _run_command(command: Sequence[str], environment: dict[str, str]) -> int:
    # Ctrl-C reaches the command too, and what it means is the command's affair.
    # A handler, since what is ignored here would stay ignored in the command.
    signal.signal(signal.SIGINT, lambda _number, _frame: None)
    with subprocess.Popen(
        command,
        env=environment,
        preexec_fn=dies_with_parent(signal.SIGTERM),
    ) as process:
        try:
            code = process.wait()
        except StopRequested:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
    return code if code >= 0 else 128 - code


def _local_environment(folder: Path) -> dict[str, str]:
    return {
        "SECRET_KEY": local_secret(folder / "secret_key"),
        "ALLOWED_HOSTS": "127.0.0.1,localhost",
        "DATA_DIR": str(folder / "data"),
        "EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend",
        "EMAIL_FILE_PATH": str(folder / "mail"),
    } | os.environ


@contextmanager
def _unwinding_when_stopped() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    asked: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        stop_soon(number, frame)

    def stop_soon(_number: int, frame: FrameType | None) -> None:
        if _is_starting_a_process(frame):
            signal.setitimer(signal.ITIMER_REAL, ASK_AGAIN_SECONDS)
            return
        for later in (*numbers, signal.SIGALRM):
            signal.signal(later, signal.SIG_IGN)
        raise StopRequested(asked[0])

    before = {number: signal.signal(number, stop) for number in numbers}
    before[signal.SIGALRM] = signal.signal(signal.SIGALRM, stop_soon)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_starting_a_process(frame: FrameType | None) -> bool:
    """Then nothing may be raised: Python calls hooks around a fork, and loses what they raise."""
    while frame is not None:
        if frame.f_code is subprocess.Popen.__init__.__code__:
            return True
        frame = frame.f_back
    return False


ACTIONS = {"demo": _demo, "run": _run, "erase": _erase}

if __name__ == "__main__":
    sys.exit(main())

"""A pytest plugin: real PostgreSQL and Redis for the whole run, in a folder of their own."""

import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from annotation_app import embedded

_running = ExitStack()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    folder = Path(tempfile.mkdtemp(prefix="annotation-tests-"))
    folder.chmod(0o755)
    _running.callback(shutil.rmtree, folder, ignore_errors=True)
    os.environ.update(_running.enter_context(embedded.servers(folder / "var", durable=False)))
    os.environ.update(
        ENVIRONMENT="development",
        DEBUG="off",
        SECRET_KEY="for-tests-only-and-long-enough-to-be-a-key",
        ALLOWED_HOSTS="127.0.0.1,localhost,testserver",
        DATA_DIR=str(folder / "data"),
        EMAIL_BACKEND="django.core.mail.backends.locmem.EmailBackend",
    )


def pytest_unconfigure() -> None:
    _running.close()

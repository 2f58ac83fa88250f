"""A pytest plugin: real PostgreSQL and Redis for the whole run, in a folder of their own.

Where tests run in several processes each has servers of its own, since tests empty the cache and
kill what they talk to.
"""

import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from annotation_app import embedded

STARTED_HERE = "TESTS_STARTED_SERVERS"
_running = ExitStack()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    if os.environ.pop(STARTED_HERE, None):
        del os.environ["DATABASE_URL"], os.environ["REDIS_URL"]
    given = set(os.environ)
    folder = Path(tempfile.mkdtemp(prefix="annotation-tests-"))
    folder.chmod(0o755)
    _running.callback(shutil.rmtree, folder, ignore_errors=True)
    os.environ.update(_running.enter_context(embedded.servers(folder / "var", durable=False)))
    if not {"DATABASE_URL", "REDIS_URL"} & given:
        os.environ[STARTED_HERE] = "yes"
    os.environ.update(
        ENVIRONMENT="development",
        DEBUG="off",
        SECRET_KEY="for-tests-only-and-long-enough-to-be-a-key",
        ALLOWED_HOSTS="127.0.0.1,localhost,testserver",
        DATA_DIR=str(folder / "data"),
        EMAIL_BACKEND="django.core.mail.backends.locmem.EmailBackend",
    )


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: many tests wait for a server, a browser or a time."""
    return (os.cpu_count() or 1) + 1


def pytest_unconfigure() -> None:
    _running.close()

"""The program in docs/api.md, run as it stands there."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from pytest_django.live_server_helper import LiveServer

from hits.models import Job, Release
from hits.pipeline import jobs
from hits.pipeline.check import check_submitted
from tests import making
from workers.work import WORK

GUIDE = settings.BASE_DIR / "docs" / "api.md"


@contextmanager
def a_worker() -> Iterator[None]:
    """Does what is asked for, as a worker and its sweep do."""
    stopped = threading.Event()

    def work() -> None:
        while not stopped.wait(0.2):
            for pk in Job.objects.filter(state="queued").values_list("pk", flat=True):
                jobs.run(pk, WORK)
            check_submitted()
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


@pytest.mark.django_db(transaction=True)
def test_the_guides_program_runs_a_whole_study(live_server: LiveServer, tmp_path: Path) -> None:
    corpus, rater = making.corpus(images=12), making.user()
    (program,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    environment = {
        **os.environ,
        "SITE": live_server.url,
        "CORPUS": corpus.slug,
        "RESEARCHER": corpus.owner.email,
        "RATER": rater.email,
        "PASSWORD": "a good password",
    }
    with a_worker():
        ran = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "20 units on 2 pages, $1.30" in ran.stdout
    (release,) = Release.objects.all()
    assert {path.name for path in tmp_path.iterdir()} == {file.name for file in release.files.all()}

"""Commands that ask for jobs and do them: what they print, and how they end."""

import subprocess
import sys
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import call_command

from hits.management.following import PlainLines
from hits.pipeline.open import create_study
from tests import making
from tests.faults.programs import environment

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_unknown_machine_ends_the_command_with_a_plain_sentence_and_status_1() -> None:
    corpus = making.corpus(images=2)
    command = [sys.executable, "manage.py", "propose", corpus.slug, "smell"]
    ended = subprocess.run(
        command,
        cwd=settings.BASE_DIR,
        env=dict(environment()),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "There is no machine 'smell'. There are palette, layout, caption_mean." in ended.stderr
    assert "Error:" not in ended.stderr.replace("CommandError:", "")


def test_without_a_terminal_a_job_is_followed_in_plain_lines_that_name_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    corpus = making.corpus(images=12)
    study = create_study(
        slug="kitchens", name="Kitchens", corpus=corpus, protocol_slug="matching", by=corpus.owner
    )
    study.proposals.set(making.proposals(corpus))
    call_command("open_study", "kitchens", stdout=StringIO())
    assert capsys.readouterr().err.startswith("Open Kitchens")


def test_plain_lines_come_for_what_is_new_and_not_for_every_step() -> None:
    output = StringIO()
    tell = PlainLines(output)
    for done in range(5):
        tell(done, message="Reading.")
    tell(5, 5, "Done.")
    assert output.getvalue() == "Reading. 0\nDone. 5 of 5\n"

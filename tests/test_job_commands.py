"""Commands that ask for jobs and do them: what they print, and how they end."""

import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from hits.management.following import PlainLines
from hits.models import JudgmentImport
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
    assert "There is no machine 'smell'. There are palette, layout, small_dual," in ended.stderr
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


def test_rows_and_judgments_come_in_by_command(tmp_path: Path) -> None:
    corpus = making.corpus(images=3)
    settings = {"justification": False}
    create_study(
        slug="pairs",
        name="Pairs",
        corpus=corpus,
        protocol_slug="matching",
        by=corpus.owner,
        settings=settings,
    )
    rows, judgments, report = (tmp_path / name for name in ("rows.csv", "j.csv", "refused.jsonl"))
    rows.write_text("image,caption\n1,20\n9,20\n")
    judgments.write_text("worker,image,caption,choice\nann,1,20,yes\nbob,1,20,no\n")
    said = StringIO()
    call_command("import_rows", "pairs", str(rows), "--report", str(report), stdout=said)
    call_command("open_study", "pairs", stdout=StringIO())
    more = ["--by", corpus.owner.email, "--raise-wanted"]
    call_command("import_judgments", "pairs", str(judgments), *more, stdout=said)
    assert said.getvalue().splitlines() == [
        "1 added, 0 there already",
        "refused: 1 × no-image",
        f"Each refusal with its line and reason: {report}",
        "2 added by 2 people on 2 pages: 2 counted, 0 more than wanted, 0 not used; "
        "0 there already",
    ]
    assert JudgmentImport.objects.get().by == corpus.owner


@pytest.mark.parametrize("command", ["import_rows", "import_judgments"])
def test_a_study_that_is_not_there_ends_the_command(command: str) -> None:
    with pytest.raises(CommandError, match="There is no study 'nothing'"):
        call_command(command, "nothing", "x.csv")


def test_plain_lines_come_for_what_is_new_and_not_for_every_step() -> None:
    output = StringIO()
    tell = PlainLines(output)
    for done in range(5):
        tell(done, message="Reading.")
    tell(5, 5, "Done.")
    assert output.getvalue() == "Reading. 0\nDone. 5 of 5\n"

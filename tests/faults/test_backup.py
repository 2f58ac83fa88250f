"""Dumped, destroyed, restored: everything is as it was."""

import hashlib
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import connection

from hits.models import Judgment, Release, Study
from hits.pipeline.backup import count_rows
from hits.pipeline.check import check_submitted
from hits.pipeline.release import release
from hits.pipeline.shelf import path_of
from tests import making
from tests.emptying import empty_the_database

pytestmark = pytest.mark.django_db(transaction=True)


def checksums(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_restore_brings_back_every_row_and_every_file(
    settings: LazySettings, tmp_path: Path
) -> None:
    settings.DATA_DIR = data = tmp_path / "data"
    study = making.study(making.corpus(images=12), settings={"candidates_a_page": 4})
    making.work(study, making.rater(study))
    check_submitted()
    made = release(studies=[study], name="kept", by=study.corpus.owner)
    rows, files = count_rows(), checksums(data)
    assert rows["hits_judgment"] > 0
    assert len(files) > 20
    saved = tmp_path / "saved"
    call_command("backup", saved, stdout=StringIO())
    assert saved.stat().st_mode & 0o077 == 0
    with pytest.raises(CommandError, match="not empty"):
        call_command("backup", saved)

    empty_the_database()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE later (study bigint REFERENCES hits_study)")
    shutil.rmtree(data)
    assert not Judgment.objects.exists()
    with pytest.raises(CommandError, match="is lost by this"):
        call_command("restore", saved)
    call_command("restore", saved, "--yes", stdout=StringIO())

    assert count_rows() == rows
    assert checksums(data) == files
    for file in Release.objects.get(pk=made.pk).files.all():
        assert hashlib.sha256(path_of(file).read_bytes()).hexdigest() == file.sha256
    making.work(Study.objects.get(pk=study.pk), making.rater(Study.objects.get(pk=study.pk)))
    with pytest.raises(Exception, match="only ever added"), connection.cursor() as cursor:
        cursor.execute("DELETE FROM hits_judgment")


def test_a_restore_that_fails_leaves_everything_as_it_was(
    settings: LazySettings, tmp_path: Path
) -> None:
    settings.DATA_DIR = data = tmp_path / "data"
    making.corpus(images=2)
    saved = tmp_path / "saved"
    call_command("backup", saved, stdout=StringIO())
    making.corpus(images=1)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE later (corpus bigint REFERENCES hits_corpus)")
        cursor.execute("INSERT INTO later SELECT id FROM hits_corpus")
    rows, files = count_rows(), checksums(data)
    dump, archive = saved / "database.dump", saved / "data.tar.gz"
    whole = {dump: dump.read_bytes(), archive: archive.read_bytes()}

    for broken in (dump, archive):
        for size in (0, 100, len(whole[broken]) // 2, len(whole[broken]) - 100):
            broken.write_bytes(whole[broken][:size])
            with pytest.raises(CommandError, match="Nothing is restored: "):
                call_command("restore", saved, "--yes")
            assert (count_rows(), checksums(data)) == (rows, files)
        broken.write_bytes(whole[broken])
    with connection.cursor() as cursor:
        cursor.execute("CREATE VIEW holding AS SELECT id FROM hits_corpus")
    with pytest.raises(CommandError, match="holding depends"):
        call_command("restore", saved, "--yes")
    assert (count_rows(), checksums(data)) == (rows, files)
    with connection.cursor() as cursor:
        cursor.execute("DROP VIEW holding")

    call_command("restore", saved, "--yes", stdout=StringIO())
    assert "later" not in count_rows()


def test_a_backup_that_lost_a_file_is_told(settings: LazySettings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "data"
    making.corpus(images=2)
    saved = tmp_path / "saved"
    call_command("backup", saved, stdout=StringIO())
    contents = saved / "contents.json"
    contents.write_text(contents.read_text().replace('"hits_corpus": 1', '"hits_corpus": 2'))
    with pytest.raises(CommandError, match="not as it was: hits_corpus"):
        call_command("restore", saved, "--yes")
    contents.unlink()
    with pytest.raises(CommandError, match="no finished backup"):
        call_command("restore", saved, "--yes")

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from hits.models import Job
from hits.pipeline.arrange import UPLOADS_KEPT, forget_uploads, keep_upload

pytestmark = pytest.mark.django_db


def uploaded(*, age: timedelta) -> Path:
    path = keep_upload(SimpleUploadedFile("judgments.csv", b"worker\nA1"))
    then = (timezone.now() - age).timestamp()
    os.utime(path, (then, then))
    return path


def test_uploads_stay_until_a_day_has_passed_and_no_job_waits_for_them(
    tmp_path: Path, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path
    assert forget_uploads() == 0
    new = uploaded(age=UPLOADS_KEPT / 2)
    left, read, wanted = [uploaded(age=UPLOADS_KEPT * 2) for _ in range(3)]
    Job.objects.create(kind="rows", arguments={"source": str(read)}, state="done")
    Job.objects.create(kind="evaluate", arguments={"sources": {"a": {"path": str(wanted)}}})
    assert forget_uploads() == 2
    assert [path.exists() for path in (new, left, read, wanted)] == [True, False, False, True]

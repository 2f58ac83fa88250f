"""The demo's small study of every protocol, set up as a researcher would."""

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from django.db import transaction

from hits.demo.trials import TRIALS, Picture, Pictures, Row, Trial
from hits.models import Corpus, Membership, Role, Study, User
from hits.pipeline.open import create_study, open_study
from hits.pipeline.rows import import_rows
from hits.protocol import protocol

SECOND_RATER = "rater2"
PICTURES = 30
MINUTES = 2


def open_trials(corpora: Iterable[Corpus], users: dict[str, User], scratch: Path) -> None:
    """Those that are there already stay as they are."""
    by_slug = {corpus.slug: corpus for corpus in corpora}
    for trial in TRIALS:
        if not Study.objects.filter(slug=trial.slug).exists():
            _open(trial, by_slug[trial.corpus], users, scratch)


@transaction.atomic
def _open(trial: Trial, corpus: Corpus, users: dict[str, User], scratch: Path) -> None:
    study = create_study(
        slug=trial.slug,
        name=f"Try: {trial.name}",
        corpus=corpus,
        split="test",
        protocol_slug=trial.protocol,
        by=users[Role.RESEARCHER],
        settings=dict(trial.settings),
        expected_minutes=MINUTES,
    )
    if trial.direction:
        study.proposals.set(corpus.proposals.filter(direction=trial.direction))
    if trial.rows is not None:
        bring_rows(study, trial.rows, scratch)
    # Nobody may try both of two questions that are kept apart.
    rater = users[SECOND_RATER if protocol(trial.protocol).apart_from else Role.RATER]
    Membership.objects.create(study=study, user=rater, role=Role.RATER)
    Membership.objects.create(study=study, user=users[Role.REVIEWER], role=Role.REVIEWER)
    open_study(study=study)


def bring_rows(study: Study, rows: Callable[[Pictures], Iterator[Row]], scratch: Path) -> None:
    """What a researcher would upload, made of the first pictures of the study's split."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", dir=scratch) as file:
        file.writelines(json.dumps(row) + "\n" for row in rows(_pictures(study)))
        file.flush()
        import_rows(study=study, source=file.name)


def _pictures(study: Study) -> list[Picture]:
    images = study.corpus.images.filter(split=study.split, blob__isnull=False).order_by("pk")
    return [
        Picture(
            image.external_id,
            {caption.external_id: caption.text for caption in image.captions.all()},
            [
                (region.category, (region.x, region.y, region.width, region.height))
                for region in image.regions.all()
            ],
        )
        for image in images.prefetch_related("captions", "regions")[:PICTURES]
    ]

"""Studies to be worked on or to be released; runs in a process of the application."""

import time
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import connection, transaction

from bench.people import PASSWORD, RATERS, login_of
from hits.models import Corpus, Membership, Proposal, Role, Study, User
from hits.pipeline import propose
from hits.pipeline.check import check_submitted
from hits.pipeline.open import create_study, open_study
from hits.pipeline.people import account_of, give_consent

CAPTIONS_AN_IMAGE = 5
WANTED = 3

_BLOBS = """
    INSERT INTO hits_blob (sha256, content_type, size, width, height, bucket, object_key)
    SELECT encode(sha256(convert_to('image ' || n, 'UTF8')), 'hex'), 'image/jpeg', 150000,
           640, 480, '', ''
    FROM generate_series(1, %(images)s) n
"""
_IMAGES = """
    INSERT INTO hits_image (corpus_id, external_id, file_name, split, width, height, blob_id)
    SELECT %(corpus)s, n, 'image_' || lpad(n::text, 12, '0') || '.jpg', 'test', 640, 480,
           encode(sha256(convert_to('image ' || n, 'UTF8')), 'hex')
    FROM generate_series(1, %(images)s) n
"""
_CAPTIONS = """
    INSERT INTO hits_caption (corpus_id, image_id, external_id, text)
    SELECT %(corpus)s, i.id, i.external_id || '0' || c,
           'A photograph of item number ' || i.external_id || ' on a wooden table, seen from '
           || (ARRAY['above', 'the left', 'the right', 'below', 'afar'])[c] || ', in daylight'
    FROM hits_image i, generate_series(1, %(captions)s) c
    WHERE i.corpus_id = %(corpus)s ORDER BY i.id, c
"""


def make(*, slug: str, units: int, settings: dict[str, Any]) -> dict[str, Any]:
    """A study of so many units whose raters have agreed to take part."""
    owner = make_owner()
    corpus = Corpus.objects.create(slug=slug, name="A corpus", owner=owner)
    fill(corpus, images=units // CAPTIONS_AN_IMAGE)
    study = make_study(slug, corpus, owner, settings)
    study.proposals.add(proposal(corpus, CAPTIONS_AN_IMAGE, list(_ranked(corpus))))
    started = time.perf_counter()
    counts = open_study(study=study)
    seconds = round(time.perf_counter() - started, 2)
    _add_raters(study)
    return {"units": counts, "open_seconds": seconds}


def fill(corpus: Corpus, *, images: int) -> None:
    values = {"corpus": corpus.pk, "images": images, "captions": CAPTIONS_AN_IMAGE}
    with connection.cursor() as cursor:
        for statement in (_BLOBS, _IMAGES, _CAPTIONS):
            cursor.execute(statement, values)
        cursor.execute("ANALYZE hits_image, hits_caption")


def make_owner() -> User:
    return User.objects.create(
        username="owner@example.org", email="owner@example.org", is_researcher=True
    )


def make_study(slug: str, corpus: Corpus, owner: User, settings: dict[str, Any]) -> Study:
    return create_study(
        slug=slug,
        name="Do image and text match?",
        corpus=corpus,
        protocol_slug="matching",
        by=owner,
        settings=settings,
        judgments_wanted=WANTED,
    )


def proposal(corpus: Corpus, depth: int, ranked: list[propose.Ranked]) -> Proposal:
    machine = propose.machine_of(name="bench", version="1", kind="bench", checksum="", settings={})
    return propose.keep(
        corpus=corpus,
        machine=machine,
        direction="i2t",
        split="test",
        depth=depth,
        query_sample=None,
        seed=0,
        ranked=ranked,
    )


def _ranked(corpus: Corpus) -> Iterator[propose.Ranked]:
    """For each image the captions of the next, so that none of its own is a candidate."""
    images = list(corpus.images.order_by("pk").values_list("pk", flat=True))
    captions = list(corpus.captions.order_by("pk").values_list("pk", flat=True))
    scores = [1 - rank / 100 for rank in range(CAPTIONS_AN_IMAGE)]
    for index, image in enumerate(images):
        start = (index + 1) % len(images) * CAPTIONS_AN_IMAGE
        yield image, captions[start : start + CAPTIONS_AN_IMAGE], scores


@transaction.atomic
def _add_raters(study: Study) -> None:
    password = make_password(PASSWORD)
    for number in range(RATERS):
        name = login_of(number)
        user = User.objects.create(username=name, email=name, password=password)
        Membership.objects.create(study=study, user=user, role=Role.RATER)
        give_consent(study=study, account=account_of(user))


def check_all() -> dict[str, Any]:
    """Check the golds of everything submitted, as the worker does in the background."""
    pages = 0
    while done := check_submitted():
        pages += done
    return {"pages": pages}


_GO = """
    CREATE TEMPORARY TABLE go AS
    SELECT nextval('hits_assignment_id_seq') AS id, u.id AS unit_id, a.id AS account_id,
           a.person_id, (ARRAY['yes', 'no', 'partial_yes', 'mostly_no'])[1 + (u.n + k) %% 4]
               AS choice
    FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM hits_unit WHERE gold IS NULL) u
    CROSS JOIN generate_series(0, %(wanted)s - 1) k
    JOIN (SELECT id, person_id, row_number() OVER (ORDER BY id) - 1 AS n FROM hits_account) a
      ON a.n = (%(wanted)s * u.n + k) %% %(raters)s
    ORDER BY u.n, k
"""
_PAGES = """
    INSERT INTO hits_assignment (id, key, study_id, version_id, account_id, person_id, state,
        seed, drawn_at, lease_until, draft, draft_revision, saved_at, submitted_at, is_late,
        device, checked_at, golds_shown, golds_failed, use, payment)
    SELECT go.id, gen_random_uuid(), s.id, s.version_id, account_id, go.person_id, 'submitted',
        go.id, now(), now(), '{}', 1, now(), now(), false, 'keyboard', now(), 0, 0, 'used',
        'approved'
    FROM go, hits_study s
"""
_SLOTS = """
    INSERT INTO hits_slot (assignment_id, unit_id, person_id, position, state)
    SELECT id, unit_id, person_id, 1, 'counted' FROM go ORDER BY id
"""
_JUDGMENTS = """
    INSERT INTO hits_judgment (slot_id, answer, problem, seconds)
    SELECT s.id, jsonb_build_object('choice', go.choice), '', 4.2
    FROM go JOIN hits_slot s ON s.assignment_id = go.id ORDER BY go.id
"""
_DECISIONS = """
    INSERT INTO hits_decision (assignment_id, kind, value, reason)
    SELECT go.id, d.kind, d.value, 'All golds answered as expected.'
    FROM go, (VALUES ('use', 'used'), ('payment', 'approved')) d (kind, value) ORDER BY go.id
"""
_COUNTS = "UPDATE hits_unit SET counted = wanted WHERE gold IS NULL"


@transaction.atomic
def judge() -> dict[str, Any]:
    """Every unit of the only study gets its judgments, each on a page of its own."""
    with connection.cursor() as cursor:
        # What is made here fits together: looking up every key again takes most of the time.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_GO, {"wanted": WANTED, "raters": RATERS})
        for statement in (_PAGES, _SLOTS, _JUDGMENTS, _DECISIONS, _COUNTS):
            cursor.execute(statement)
        cursor.execute("SELECT count(*) FROM hits_judgment")
        (judgments,) = cursor.fetchone()
    return {"judgments": judgments}

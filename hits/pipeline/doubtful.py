"""Doubtful: pairs of the corpus that may not belong together, proposed for removal by the data.

People here said of a caption that it does not describe its own image at all; or the pair was rated
low in a file as Crisscrossed Captions publishes them. A person decides."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from defusedcsv import csv
from django.db import connection

from hits.models import Caption, Study
from hits.pipeline.aggregate import in_batches
from hits.pipeline.errors import Refused
from hits.pipeline.remove import Thing, removed_in
from hits.protocol import protocol

MOST_LINES = 200_000
COLUMNS = {"caption", "image", "agg_score"}
# Golds too: a pair that was taken for a positive may be none.
_DENIED = """
    SELECT u.key, u.payload::text, json_agg(j.answer ORDER BY s.id)::text, count(*)
    FROM hits_unit u
    JOIN hits_slot s ON s.unit_id = u.id AND s.state = 'counted'
    JOIN hits_assignment a ON a.id = s.assignment_id AND (a.use = 'used' OR u.gold IS NOT NULL)
    JOIN hits_judgment j ON j.slot_id = s.id AND j.answer IS NOT NULL
    WHERE u.study_id = %(study)s AND NOT u.excluded AND NOT a.is_training
    GROUP BY u.id ORDER BY u.id
"""
_ORIGINAL = """
    SELECT c.id, c.image_id, c.external_id, i.external_id, c.text, coalesce(i.blob_id, '')
    FROM hits_caption c JOIN hits_image i ON i.id = c.image_id
    WHERE (c.id, c.image_id) IN (SELECT * FROM unnest(%s::bigint[], %s::bigint[]))
"""


@dataclass(frozen=True, slots=True)
class Doubtful:
    """An original pair, under the names of the corpus, and what speaks against it."""

    image: str
    caption: str
    text: str
    why: str
    thing: Thing
    sha256: str


def denied(study: Study) -> list[Doubtful]:
    """Original pairs of which everybody asked says no."""
    kind = protocol(study.protocol)
    against: dict[Thing, str] = {}
    for _, payload, answers, count in chain.from_iterable(in_batches(_DENIED, {"study": study.pk})):
        images, captions = kind.items(json.loads(payload))
        if len(images) == len(captions) == 1 and kind.is_denied(json.loads(answers)):
            said = "1 person says" if count == 1 else f"All {count} people say"
            against[Thing(images[0], captions[0])] = f"{said} that it does not fit at all."
    return _original(study, against)


def rated_low(study: Study, lines: Iterable[str], below: float) -> list[Doubtful]:
    """Original pairs whose score in a published file lies below this."""
    try:
        low = dict(_low(csv.DictReader(_text(lines)), below))
    except csv.Error as fault:
        raise Refused(f"The file cannot be read as CSV: {fault}.") from None
    names = {caption for caption, _ in low}
    found = Caption.objects.filter(corpus=study.corpus_id, external_id__in=names)
    against: dict[Thing, str] = {}
    for pk, name, image, file_name in found.values_list(
        "pk", "external_id", "image_id", "image__file_name"
    ):
        if (name, file_name) in low:
            against[Thing(image, pk)] = f"Rated {low[name, file_name]:g} of 5."
    return _original(study, against)


def _text(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise Refused(f"Line {number} holds a NUL.")
        yield line


def _low(reader: csv.DictReader, below: float) -> Iterator[tuple[tuple[str, str], float]]:
    """A caption is rated with several images."""
    if not set(reader.fieldnames or ()) >= COLUMNS:
        raise Refused("The file needs the columns caption, image and agg_score.")
    for number, line in enumerate(reader, 2):
        if number > MOST_LINES:
            raise Refused(f"At most {MOST_LINES:,} lines are read.")
        try:
            score = float(line["agg_score"])
        except (TypeError, ValueError):
            raise Refused(f"Line {number}: {str(line['agg_score'])[:50]!r} is no score.") from None
        if score < below:
            caption = str(line["caption"]).rpartition(":")[2]
            yield (caption, str(line["image"])), score


def _original(study: Study, against: dict[Thing, str]) -> list[Doubtful]:
    """Those of the pairs that the corpus has, and that are not gone already."""
    gone = removed_in([study])
    pairs = [
        thing for thing in against if gone.why([thing.image or 0], [thing.caption or 0]) is None
    ]
    with connection.cursor() as cursor:
        images, captions = [thing.image for thing in pairs], [thing.caption for thing in pairs]
        cursor.execute(_ORIGINAL, [captions, images])
        return [
            Doubtful(image_name, name, text, against[thing], thing, sha256)
            for caption, image, name, image_name, text, sha256 in cursor.fetchall()
            for thing in [Thing(image, caption)]
        ]

"""Alter: the queries of a BISON file changed in one way, to see which predictions heed it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import orjson
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from hits.analysis.alterations import KINDS, NEED_WORDNET, NoWordNet, WordNet, altered
from hits.analysis.evaluations.contract import Kind, Setting, Upload
from hits.importers.json_stream import BYTE_ORDER_MARK
from hits.importers.records import shown
from hits.models import ReleaseFile
from hits.pipeline.errors import Refused
from hits.pipeline.shelf import path_of

LARGEST = 40 * 1024**2
ASKED = Kind(
    "altered-queries",
    "Altered queries",
    "BISON’s queries negated, permuted, reversed, or with a word replaced: a file for a model to "
    "predict on again. Queries in which nothing can be altered are left out. BISON accuracy then "
    "tells the share of predictions that changed.",
    [
        Upload(
            "annotations",
            "Annotations",
            "JSON in the public BISON layout, with captions.",
            "json",
            released=("bison_annotations.json",),
        )
    ],
    [
        Setting("alteration", "Alteration", KINDS[0], options={each: each for each in KINDS}),
        Setting(
            "seed",
            "Seed",
            0,
            "The same seed alters a query in the same way.",
            low=0,
            high=2**31 - 1,
        ),
    ],
)


class WithoutWordNet(Refused):
    """What was chosen needs files that are not there, whatever was sent."""


def altered_queries(
    file: UploadedFile | ReleaseFile, *, alteration: str, seed: int
) -> Iterator[str]:
    """The file with altered captions, in pieces; what cannot be altered is left out."""
    if (file.size or 0) > LARGEST:
        raise Refused("This file is too large to be altered here: use the command.")
    if isinstance(file, ReleaseFile):
        return altered_pieces(path_of(file).read_bytes(), alteration=alteration, seed=seed)
    return altered_pieces(file.read(), alteration=alteration, seed=seed)


def altered_pieces(data: bytes, *, alteration: str, seed: int) -> Iterator[str]:
    """What is wrong with the whole is refused before the first piece."""
    wordnet = _wordnet(alteration)
    info, rows = _read(data)
    return _pieces({**info, "alteration": alteration, "seed": seed}, rows, wordnet)


def _wordnet(alteration: str) -> WordNet | None:
    if alteration not in NEED_WORDNET:
        return None
    try:
        return WordNet(Path(settings.WORDNET_DIR))
    except NoWordNet as missing:
        raise WithoutWordNet(str(missing)) from None


def _read(data: bytes) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    try:
        given = orjson.loads(data.removeprefix(BYTE_ORDER_MARK))
        info, rows = given["info"], given["data"]
        fits = isinstance(info, dict) and all(
            isinstance(row["caption"], str) and isinstance(row["bison_id"], int | str)
            for row in rows
        )
        # Refuses what is nested too deep to be written again.
        orjson.dumps(given)
    except orjson.JSONDecodeError as wrong:
        raise Refused(f"This is not readable as JSON: {shown(str(wrong))}") from None
    except (KeyError, TypeError):
        fits = False
    if not fits:
        raise Refused("This is not a file of BISON’s layout with captions.")
    return info, rows


def _pieces(
    info: Mapping[str, Any], rows: list[Mapping[str, Any]], wordnet: WordNet | None
) -> Iterator[str]:
    yield f'{{"info": {json.dumps(info, ensure_ascii=False)}, "data": ['
    separator = ""
    for row in rows:
        # Its own number, so that a query is altered alike whatever stands beside it.
        random = Random(f"{info['seed']}/{row['bison_id']}")
        text = altered(row["caption"], info["alteration"], random, wordnet)
        if text is not None:
            yield separator + json.dumps({**row, "caption": text}, ensure_ascii=False)
            separator = ",\n"
    yield "]}\n"

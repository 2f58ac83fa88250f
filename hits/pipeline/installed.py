"""Models that come trained: what whoever runs the site has put into MODELS_DIR.

A folder is a checkpoint of transformers, told apart by its config.json; a file holds vectors of
words. The name is that of the folder or file, and what follows an @ in it is the version.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

DUAL, PAIRS, SENTENCE, WORDS = "dual", "pairs", "sentence", "words"
CAPTIONER = "captioner"
KIND_OF_MODEL = {
    "clip": DUAL,
    "siglip": DUAL,
    "vilt": PAIRS,
    "bert": SENTENCE,
    "distilbert": SENTENCE,
    "mpnet": SENTENCE,
    "roberta": SENTENCE,
    "xlm-roberta": SENTENCE,
    "blip": CAPTIONER,
    "git": CAPTIONER,
    "vision-encoder-decoder": CAPTIONER,
}
WORD_FILES = (".txt", ".vec", ".bin")


class Installed(NamedTuple):
    name: str
    version: str
    kind: str
    path: Path


def installed() -> dict[str, Installed]:
    """By what they are called in forms, requests and commands."""
    folder = Path(settings.MODELS_DIR)
    if not folder.is_dir():
        return {}
    found = {}
    for path in sorted(folder.iterdir()):
        kind = _kind_of(path)
        if kind:
            name, _, version = path.name.partition("@")
            found[path.name] = Installed(name, version or "1", kind, path)
    return found


def _kind_of(path: Path) -> str | None:
    if path.is_file():
        return WORDS if path.suffix in WORD_FILES else None
    return KIND_OF_MODEL.get(str(_config(path / "config.json").get("model_type")))


def _config(path: Path) -> dict[str, Any]:
    """Nothing where it is no JSON object: the folder is then no model."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}

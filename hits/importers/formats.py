"""Which reader a file wants: by its name where that says it, else by its content."""

from collections.abc import Callable
from typing import IO

from hits.importers import coco, karpathy, rows
from hits.importers.json_stream import BYTE_ORDER_MARK, Open, events
from hits.importers.records import Bad, Stream

READERS: dict[str, Callable[[Open], Stream]] = {
    "coco": coco.read,
    "karpathy": karpathy.read,
    "csv": rows.read_csv,
    "jsonl": rows.read_jsonl,
}
FORMATS = tuple(READERS)
CAPTIONS_BEHIND_IMAGES = frozenset({"karpathy", "csv", "jsonl"})
BY_SUFFIX = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
SUFFIXES = (".json", *BY_SUFFIX)

FIRST_BYTES = 1 << 16
ROW_KEYS = {"image_id", "file_name", "caption_id", "caption"}


def read(name: str, open_file: Open, format_name: str = "") -> Stream:
    """Raises Bad, here or while it is read, where the file as a whole cannot be taken."""
    found = format_name or detect(name, open_file)
    if not found:
        raise Bad("unknown-format", f"The file is none of these: {', '.join(FORMATS)}.")
    return READERS[found](open_file)


def detect(name: str, open_file: Open) -> str:
    for suffix, found in BY_SUFFIX.items():
        if name.lower().endswith(suffix):
            return found
    with open_file() as file:
        first = file.read(FIRST_BYTES).removeprefix(BYTE_ORDER_MARK).lstrip()
    if first.startswith(b"{"):
        with open_file() as file:
            return _json_format(file)
    header = first.split(b"\n", 1)[0].decode(errors="replace")
    columns = {column.strip().strip('"') for column in header.split(",")}
    return "csv" if "image_id" in columns else ""


def _json_format(file: IO[bytes]) -> str:
    """Reads as far as the first image or annotation."""
    for prefix, event, value in events(file):
        if event == "map_key" and prefix == "images.item" and value in {"sentences", "sentids"}:
            return "karpathy"
        if event == "map_key" and prefix == "" and value in ROW_KEYS:
            return "jsonl"
        if (prefix, event) in {("images.item", "end_map"), ("annotations.item", "start_map")}:
            return "coco"
    return ""

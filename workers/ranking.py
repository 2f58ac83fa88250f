"""Exact top-k by what is installed: with torch or without, the result is the same bytes."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

from workers import exact
from workers.exact import Block, Vectors


def top_k_blocks(queries: Vectors, targets: Vectors, k: int) -> Iterator[Block]:
    if find_spec("torch") is None:
        return exact.top_k_blocks(queries, targets, k)
    blocks: Iterator[Block] = import_module("workers.search").top_k_blocks(queries, targets, k)
    return blocks

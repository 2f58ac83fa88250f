"""How often Python looks for cycles of objects while rows pass through."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS_UNTIL_A_LOOK = 200_000


@contextmanager
def seldom_looking_for_cycles() -> Iterator[None]:
    """Rows come and go by the million and hold no cycles; looking for some among them, as often
    as Python does, takes a quarter of the time."""
    often, *older = gc.get_threshold()
    gc.set_threshold(OBJECTS_UNTIL_A_LOOK, *older)
    try:
        yield
    finally:
        gc.set_threshold(often, *older)

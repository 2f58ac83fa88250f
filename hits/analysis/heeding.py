"""Long work that can be stopped: between its steps it calls what raises once somebody asked to."""

from collections.abc import Callable

Heed = Callable[[], None]


def go_on() -> None:
    """Nobody can ask to stop."""

"""The channels of this installation, by their names in the settings."""

from functools import cache
from importlib import import_module

from django.conf import settings

from hits.channels.contract import Channel
from hits.channels.in_house import IN_HOUSE, InHouse


class NoSuchChannel(LookupError):
    """No channel of this name is configured."""


def names() -> list[str]:
    """The marketplaces; raters of the house need none."""
    return list(settings.CHANNELS)


def channel(name: str) -> Channel:
    if name == IN_HOUSE:
        return InHouse()
    if name not in settings.CHANNELS:
        raise NoSuchChannel(f"There is no channel {name!r} in CHANNELS.")
    return _open(name, tuple(sorted(settings.CHANNELS[name].items())))


@cache
def _open(name: str, values: tuple[tuple[str, str], ...]) -> Channel:
    """One a process and settings. Its kind names the module that speaks to it."""
    known = dict(values)
    module = import_module(f"hits.channels.{known['kind']}")
    opened: Channel = module.open_channel(name, known)
    return opened

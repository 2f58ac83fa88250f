"""What takes long to make is made once for a file of tests, each of which undoes what it does."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from pytest_django import DjangoDbBlocker


@contextmanager
def undone_at_the_end(blocker: DjangoDbBlocker) -> Iterator[None]:
    """For a fixture of a file none of whose tests commits. What it makes is handed to each test as
    a deep copy, since the rows are as before, and the objects would not be."""
    with blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)

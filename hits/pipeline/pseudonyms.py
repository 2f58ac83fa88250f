"""Pseudonyms: what people are called outside. The key is in the environment, never in the database
or beside the data."""

from functools import lru_cache

from django.conf import settings
from django.utils.crypto import salted_hmac

_LENGTH = 16


@lru_cache(10_000)
def pseudonym(person: int) -> str:
    """The same for one person in every release, so that people can be told apart and no more."""
    secret = settings.PSEUDONYM_KEY or settings.SECRET_KEY
    digest = salted_hmac("hits.pseudonyms", str(person), secret=secret, algorithm="sha256")
    return digest.hexdigest()[:_LENGTH]

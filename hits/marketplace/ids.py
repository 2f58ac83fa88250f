"""Ids as Mechanical Turk gives them: upper-case letters and digits, 30 of them for things and 14
for people."""

import secrets
import string

ALPHABET = string.ascii_uppercase + string.digits


def _random(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def thing_id() -> str:
    return "3" + _random(29)


def person_id() -> str:
    return "A" + _random(13)

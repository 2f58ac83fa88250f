"""What somebody typed or a form sent, as the rest can take it."""

NO_NUMBER = -1
MOST_DIGITS = 18


def number_in(text: str) -> int:
    """A whole number that PostgreSQL takes; else one that nothing has."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else NO_NUMBER


def typed(text: str) -> str:
    """As it was counted while it was typed; PostgreSQL takes no NUL."""
    return text.replace("\0", "").replace("\r\n", "\n").strip()

"""Who works in a measurement. Peers' processes read this too, so it imports nothing."""

RATERS = 32
PASSWORD = "bench the rater cycle"


def login_of(number: int) -> str:
    return f"rater{number}@example.org"

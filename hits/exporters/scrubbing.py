"""What people wrote, without what may say who they are."""

import re

REMOVED = "[removed]"

# Addresses of mail and pages, handles, the ids of workers at a marketplace, and telephone numbers.
_TELLING = re.compile(
    r"""
    [\w.+-]+@[\w-]+(?:\.[\w-]+)+
    | (?:https?://|www\.)\S+
    | (?<!\w)@\w{2,}
    | \bA[0-9A-Z]{9,20}\b
    | (?<!\w)\+?\d[\d\s()./-]{5,}\d
    """,
    re.VERBOSE,
)


def scrubbed(text: str) -> str:
    return _TELLING.sub(REMOVED, text)

"""Open studies of protocols that need more than the proposals of a machine.

Each module here has functions `study_of_<slug>(corpus) -> Study`.
"""

import pkgutil
from collections.abc import Callable
from importlib import import_module

from hits.models import Corpus, Study


def case_of(slug: str) -> Callable[[Corpus], Study] | None:
    for module in pkgutil.iter_modules(__path__):
        found = import_module(f"{__name__}.{module.name}")
        if case := getattr(found, f"study_of_{slug}", None):
            return case  # type: ignore[no-any-return]
    return None

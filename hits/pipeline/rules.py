"""Rules: the protocol and the settings that a study's version has in force."""

from typing import Any

from hits.models import Study
from hits.protocol import Protocol, protocol


def rules_of(study: Study) -> tuple[Protocol[Any, Any], Any]:
    assert study.version is not None
    kind = protocol(study.protocol)
    return kind, kind.settings_model.model_validate(study.version.settings)


def judged_pool(study: Study) -> str:
    """The pool of the units that the study is about."""
    kind, settings = rules_of(study)
    return next(iter(kind.composition(settings)))

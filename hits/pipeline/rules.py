"""Rules: the protocol and the settings that a study's version has in force."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from hits.analysis.signals.settings import QualitySettings
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


def comes_after(study: Study, other: Study) -> bool:
    """Whether it asks about what people of the other made or know; then nobody works in both."""
    return (
        study.corpus_id == other.corpus_id and other.protocol in protocol(study.protocol).apart_from
    )


def to_be_left(one: Study, other: Study, started: Mapping[int, datetime]) -> Study:
    """Of two studies that somebody may not have worked in both: the one that comes after the
    other, or else the one in which they started later."""
    if comes_after(one, other) != comes_after(other, one):
        return one if comes_after(one, other) else other
    return max(one, other, key=lambda study: started[study.pk])


def quality_of(study: Study) -> QualitySettings:
    """What is doubted, and what follows from it, by the version in force."""
    assert study.version is not None
    return QualitySettings.model_validate(study.version.quality)


def gold_check(kind: Protocol[Any, Any]) -> Callable[[str, str], bool]:
    """Whether an answer passes a gold, both as JSON text; people say few different things."""

    @lru_cache(4096)
    def passed(answer: str, gold: str) -> bool:
        return kind.check(json.loads(answer), json.loads(gold))

    return passed

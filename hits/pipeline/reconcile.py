"""Reconcile: the marketplace's own list says who handed over what; only it confirms."""

from hits.models import Publication
from hits.pipeline.jobs import Progress
from hits.records import Json


def reconcile(publication: Publication, progress: Progress | None = None) -> Json:
    raise NotImplementedError

from pathlib import Path

import pytest
from django.conf import LazySettings

from hits.models import Corpus
from tests import making


@pytest.fixture
def corpus(db: None, tmp_path: Path, settings: LazySettings) -> Corpus:
    """An empty corpus, with a data folder of its own."""
    settings.DATA_DIR = tmp_path / "data"
    return Corpus.objects.create(slug="kitchens", name="Kitchens", owner=making.user())

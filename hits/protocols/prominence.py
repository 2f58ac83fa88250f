"""VL-detector-eval's first survey: how much objects stand out in an image."""

from hits.protocol import register
from hits.protocols.importance import Rated, Settings, Wording


@register
class Prominence(Rated[Settings, Wording]):
    slug = "prominence"
    name = "Prominence of objects"
    description = "Five boxed objects of an image, each rated by how prominent it is."
    template = "protocols/prominence.html"
    settings_model = Settings
    wording_model = Wording
    feeders = frozenset({"relevance"})
    part = "Prominence"

"""The OpenAPI description of the API, at /api/schema/."""

from drf_spectacular.views import SpectacularJSONAPIView

from hits.api import throttles


class Schema(SpectacularJSONAPIView):
    throttle_classes = [throttles.Anonymous]

"""Limits for those who guess and those who queue work; the cycle of a rater has none."""

from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle, UserRateThrottle
from rest_framework.views import APIView


class Anonymous(AnonRateThrottle):
    scope = "anonymous"
    rate = "60/min"


class LogIn(AnonRateThrottle):
    scope = "log-in"
    rate = "30/min"


class AskForWork(UserRateThrottle):
    """Requests that queue jobs."""

    scope = "jobs"
    rate = "120/hour"

    def allow_request(self, request: Request, view: APIView) -> bool:
        return request.method != "POST" or super().allow_request(request, view)

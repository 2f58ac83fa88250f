"""The application with all of it loaded, so that a new worker serves from its first moment."""

from django.contrib.auth import get_backends
from django.urls import get_resolver

from annotation_app.wsgi import application

__all__ = ["application"]

assert get_resolver().url_patterns
assert get_backends()

"""Where the image of a worked example is."""

from django import template
from django.templatetags.static import static

register = template.Library()


@register.filter
def example_address(named: str) -> str:
    """Our own images are named by their static paths, others by their addresses."""
    if named.startswith(("/", "http://", "https://")):
        return named
    try:
        return static(named)
    except ValueError:
        # Hashed static files know no other names; a wrong one must not cost raters their page.
        return named

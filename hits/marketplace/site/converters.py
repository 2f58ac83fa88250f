class IdConverter:
    """An id as the marketplace gives them; anything else cannot be an address."""

    regex = "[A-Z0-9]{1,64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value

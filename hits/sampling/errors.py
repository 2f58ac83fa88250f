"""What a sampler says when it cannot give what was asked for."""


class CannotSample(ValueError):
    """The data do not allow the sample; the message says why."""

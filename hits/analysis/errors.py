"""What an analysis says when it has no answer."""


class AnalysisError(ValueError):
    """No figure can be computed; the message says why."""


class DegenerateInput(AnalysisError):
    """The data do not determine the figure that was asked for."""


class DidNotConverge(AnalysisError):
    """A fit has not reached its optimum."""

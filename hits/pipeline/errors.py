"""Why something asked for cannot be done, in words for the person who asked."""

from collections.abc import Mapping


class PipelineError(Exception):
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NotAllowed(PipelineError):
    """This person may not do this."""


class NothingLeft(PipelineError):
    """No unit is left that this person has not judged."""


class Closed(PipelineError):
    """The assignment, study or job is past the state in which this can be done."""


class Stale(PipelineError):
    """Somebody saved something newer in between."""


class NotComputed(PipelineError):
    """It is long work for which nobody has asked yet."""


class Refused(PipelineError):
    """The request makes no sense as it stands."""


class Taken(Refused):
    """Something else has this name."""


class Incomplete(PipelineError):
    """Answers are missing or wrong, by form field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        questions = len({field.partition("-")[0] for field in errors})
        how_many = "1 answer is" if questions == 1 else f"{questions} answers are"
        super().__init__(f"{how_many} missing or not complete.")
        self.errors = dict(errors)

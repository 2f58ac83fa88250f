class Refused(Exception):
    """What a worker may not do, in words for the worker."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class RequestError(Exception):
    """What a requester may not do: Mechanical Turk's code and words."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def insufficient_funds() -> RequestError:
    return RequestError(
        "InsufficientFunds",
        "This Requester has insufficient funds in their account to complete this transaction.",
    )


def wrong_state(thing: str, state: str, *allowed: str) -> RequestError:
    return RequestError(
        f"Invalid{thing}State",
        f"This {thing} is currently in the state '{state}'. "
        f"This operation can be called with a status of: {','.join(allowed)}",
    )


def already_processed(token: str) -> RequestError:
    return RequestError(
        "DuplicateRequest", f'The idempotency token "{token}" has already been processed.'
    )

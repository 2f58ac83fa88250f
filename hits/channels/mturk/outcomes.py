"""How a call to MTurk ended: errors of botocore as outcomes."""

import re
from collections.abc import Callable

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ParamValidationError,
)
from botocore.parsers import ResponseParserError

from hits.channels.contract import Outcome, Result
from hits.records import Json

THROTTLED = ("throttl", "toomanyrequests", "requestlimitexceeded", "slowdown")
_HIT_ID = re.compile(r"\b(?=[A-Z]*\d)[A-Z0-9]{20,64}\b")


class AlreadyThere(Exception):
    """A token was used before; what it made may be named."""

    def __init__(self, made: str) -> None:
        super().__init__(made)
        self.made = made


class Denied(Exception):
    """The marketplace understood, and says no."""


def ending_of(call: Callable[[], Json]) -> Outcome:
    """Make a call and say how it ended; AlreadyThere and Denied want a closer look."""
    try:
        return Outcome(Result.DONE, answer=call())
    except ClientError as error:
        return _answered(error)
    except (EndpointConnectionError, ConnectTimeoutError) as failure:
        return Outcome(Result.RETRY, message=str(failure))
    except (HTTPClientError, ResponseParserError) as failure:
        # Lost on the way there or on the way back.
        return Outcome(Result.UNKNOWN, message=str(failure))
    except ParamValidationError as wrong:
        return Outcome(Result.REFUSED, message=str(wrong))
    except BotoCoreError as failure:
        return Outcome(Result.UNKNOWN, message=str(failure))


def _answered(error: ClientError) -> Outcome:
    message = message_of(error)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if status >= 500 or status == 429 or is_throttled(error):
        return Outcome(Result.RETRY, message=message)
    if "hitalreadyexists" in _codes(error):
        named = _HIT_ID.search(message)
        raise AlreadyThere(named[0] if named else "")
    raise Denied(message)


def is_throttled(error: ClientError) -> bool:
    return any(sign in _codes(error) for sign in THROTTLED)


def message_of(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Message") or error)


def _codes(error: ClientError) -> str:
    code = error.response.get("Error", {}).get("Code", "")
    turk = error.response.get("TurkErrorCode", "")
    return f"{code} {turk} {message_of(error)}".lower()

"""What a publisher asks for when it opens a publish connection."""

from collections.abc import Mapping
from dataclasses import dataclass

from wherecast.model.names import did_you_mean
from wherecast.server.http.messages.error_messages import Refused

_KNOWN = ("window", "publisher")
_WINDOW, _WINDOW_MAX = 1_000, 10_000


@dataclass(frozen=True, slots=True)
class PublishSocketOptions:
    """How a publisher wants to be served.

    Attributes:
        window: how many publications may be unanswered before the server stops reading.
        publisher: who publishes; empty: no name.
    """

    window: int
    publisher: str = ""


def publish_socket_options_of(given: Mapping[str, str]) -> PublishSocketOptions:
    """The options in the query of an address; the name of the publisher is not checked.

    Raises:
        Refused: a parameter is unknown, or has a value that it cannot have.
    """
    for key in given:
        if key not in _KNOWN:
            hint = did_you_mean(key, _KNOWN) or f"there are {', '.join(_KNOWN)}"
            raise Refused(422, "bad_parameter", f"unknown parameter {key[:100]}; {hint}", key[:100])
    text = given.get("window", str(_WINDOW))
    window = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if not 1 <= window <= _WINDOW_MAX:
        raise Refused(422, "bad_parameter", f"window is from 1 to {_WINDOW_MAX}", "window")
    return PublishSocketOptions(window, given.get("publisher", ""))

"""What a client asks for when it opens a push connection."""

from collections.abc import Mapping
from dataclasses import dataclass

from wherecast.model.names import did_you_mean
from wherecast.server.http.messages.error_messages import Refused

_KNOWN = ("window", "batch", "confirm")
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class PushOptions:
    """How a client wants to be served.

    Attributes:
        window: how many notifications may be sent and not acknowledged.
        batch: up to so many in one message, as a pull answers; None is one object per message.
        confirm: whether each acknowledgement is answered once it is on disk.
    """

    window: int
    batch: int | None = None
    confirm: bool = False


def options_of(given: Mapping[str, str], in_flight_max: int) -> PushOptions:
    """The options in the query of an address.

    Args:
        given: the parameters by name.
        in_flight_max: the largest window that the server allows.

    Raises:
        Refused: a parameter is unknown, or has a value that it cannot have.
    """
    for key in given:
        if key not in _KNOWN:
            hint = did_you_mean(key, _KNOWN) or f"there are {', '.join(_KNOWN)}"
            raise Refused(422, "bad_parameter", f"unknown parameter {key[:100]}; {hint}", key[:100])
    most = in_flight_max
    batch = given.get("batch")
    confirm = _TRUTHS.get(given.get("confirm", "false").lower())
    if confirm is None:
        raise Refused(422, "bad_parameter", "confirm is true or false", "confirm")
    return PushOptions(
        _number("window", given.get("window", str(most)), most),
        None if batch is None else _number("batch", batch, most),
        confirm,
    )


def _number(name: str, value: str, most: int) -> int:
    number = int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 0
    if not 1 <= number <= most:
        text = f"{name} is from 1 to {most}, the limit push.in_flight_max"
        raise Refused(422, "bad_parameter", text, name)
    return number

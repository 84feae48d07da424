"""A publication: attributes, an opaque payload, an id, times and validity."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from wherecast.model.durations import format_duration, parse_duration
from wherecast.model.errors import ConfigError, Problem, PublicationError
from wherecast.model.limits import DEFAULT_LIMITS, Limits
from wherecast.model.names import did_you_mean
from wherecast.model.times import EPOCH, format_time, parse_time, time_micros
from wherecast.model.values import describe

_KEYS = ("attributes", "id", "payload", "valid_for", "published_at", "publisher")
_ID_CHARACTERS_MAX = 256


@dataclass(frozen=True, slots=True)
class Publication:
    """What a publisher sends.

    Attributes:
        attributes: names and values, nested or dotted; a schema reads them.
        id: unique among recent publications of its publisher in its stream; whoever accepts it
            fills in a missing one.
        payload: bytes that no filter looks at.
        published_at: when it was sent, by the publisher's clock.
        valid_for: how long after `published_at` it may be delivered; None is without end.
        publisher: name of its publisher; whoever accepts it fills that in.
    """

    attributes: Mapping[str, Any]
    id: str | None = None
    payload: bytes | None = None
    published_at: datetime | None = None
    valid_for: timedelta | None = None
    publisher: str | None = None

    def valid_until(self, accepted_at: datetime | None = None) -> datetime | None:
        """When its validity ends, counted from `published_at`, else from `accepted_at`."""
        return _end(self.published_at or accepted_at, self.valid_for)

    def is_valid(self, now: datetime, accepted_at: datetime | None = None) -> bool:
        """Whether it may still be delivered."""
        if self.valid_for is None:
            return True
        return now - _start(self.published_at or accepted_at) < self.valid_for

    def to_dict(self) -> dict[str, Any]:
        """The publication object that is sent and received."""
        result: dict[str, Any] = {"attributes": dict(self.attributes)}
        if self.id is not None:
            result["id"] = self.id
        if self.payload is not None:
            result["payload"] = base64.b64encode(self.payload).decode("ascii")
        if self.valid_for is not None:
            result["valid_for"] = format_duration(self.valid_for)
        if self.published_at is not None:
            result["published_at"] = format_time(time_micros(self.published_at))
        if self.publisher is not None:
            result["publisher"] = self.publisher
        return result

    @classmethod
    def from_dict(cls, given: Any, limits: Limits = DEFAULT_LIMITS) -> "Publication":
        """The publication of an object as `to_dict` writes it.

        Raises:
            PublicationError: with every problem at once.
        """
        if not isinstance(given, Mapping):
            raise PublicationError(f"a publication is an object, not {describe(given)}")
        problems = [
            Problem(
                "unknown_key", f"unknown key {key}; {did_you_mean(str(key), _KEYS) or _known()}"
            )
            for key in given
            if key not in _KEYS
        ]
        attributes = given.get("attributes")
        if not isinstance(attributes, Mapping):
            text = f"attributes is an object, not {describe(attributes)}"
            problems.append(Problem("wrong_type", text))
            attributes = {}
        publication = cls(
            attributes,
            _read_id(given.get("id"), problems),
            _read_payload(given.get("payload"), limits, problems),
            _read_moment(given.get("published_at"), problems),
            _read_validity(given.get("valid_for"), problems),
            _read_publisher(given.get("publisher"), problems),
        )
        if problems:
            raise PublicationError(problems)
        return publication


def _end(start: datetime | None, duration: timedelta | None) -> datetime | None:
    """The end of a validity that starts at `start`; None is without end."""
    if duration is None:
        return None
    try:
        return _start(start) + duration
    except OverflowError:  # beyond the year 9999
        return None


def _start(start: datetime | None) -> datetime:
    if start is None:
        raise ConfigError("validity needs the time from which it counts")
    return start


def _known() -> str:
    return f"known keys are {', '.join(_KEYS)}"


def _read_id(value: Any, problems: list[Problem]) -> str | None:
    if value is None or (isinstance(value, str) and 0 < len(value) <= _ID_CHARACTERS_MAX):
        return value
    text = f"id is a string of 1 to {_ID_CHARACTERS_MAX} characters, not {describe(value)}"
    problems.append(Problem("wrong_type", text))
    return None


def _read_publisher(value: Any, problems: list[Problem]) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    problems.append(Problem("wrong_type", f"publisher is a name, not {describe(value)}"))
    return None


def _read_payload(value: Any, limits: Limits, problems: list[Problem]) -> bytes | None:
    if value is None:
        return None
    try:
        payload = base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        problems.append(Problem("malformed", "payload is a base64 string"))
        return None
    if len(payload) > limits.payload_bytes_max:
        text = f"payload has {len(payload)} bytes, the limit is {limits.payload_bytes_max}"
        problems.append(Problem("too_large", text))
    return payload


def _read_moment(value: Any, problems: list[Problem]) -> datetime | None:
    if value is None:
        return None
    try:
        return EPOCH + timedelta(microseconds=parse_time(value))
    except (TypeError, AttributeError, ValueError, OverflowError):
        text = f"published_at is an ISO 8601 time, not {describe(value)}"
        problems.append(Problem("bad_time", text))
        return None


def _read_validity(value: Any, problems: list[Problem]) -> timedelta | None:
    if value is None:
        return None
    try:
        return parse_duration(value)
    except ConfigError as error:
        problems.append(Problem("malformed", f"valid_for: {error}"))
        return None

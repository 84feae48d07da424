"""What a subscription asks for: a stream, a filter and options; written and compared whole."""

import json
from typing import Any, NamedTuple

from wherecast.model.errors import ConfigError
from wherecast.model.names import did_you_mean
from wherecast.model.values import describe, is_text

_INT64 = range(-(2**63), 2**63)


class SubscriptionSpec(NamedTuple):
    """What a subscription asks for; two subscriptions are the same where their specs are equal.

    A tuple, since millions are made and compared at once.

    Attributes:
        stream: name of the stream.
        filter: the text of the filter.
        valid_until: the subscription ends at this time, in microseconds since 1970, UTC; None:
            without end.
        rank: the text of the ranking, such as `ORDER BY no2 LIMIT 10 WITHIN '1 hour'`; empty: every
            match is notified.
        priority: a whole number; 0 is that of most.
        notices: whether the subscriber is told of publications that were withdrawn.
        owner: who made the subscription; empty: the subscriber.
    """

    stream: str
    filter: str
    valid_until: int | None = None
    rank: str = ""
    priority: int = 0
    notices: bool = False
    owner: str = ""

    def options_json(self) -> str:
        """The options that are not the default, as canonical JSON; empty where all are."""
        if self[2:] == _DEFAULTS:
            return ""
        named = zip(self._fields[2:], self[2:], _DEFAULTS, strict=True)
        return canonical_json({name: value for name, value, default in named if value != default})

    @staticmethod
    def read(stream: str, filter: str, options: str) -> "SubscriptionSpec":
        """The spec of a stream, a filter and what `options_json` wrote.

        Raises:
            ConfigError: the options cannot be read; the text names the option.
        """
        if not options:
            return SubscriptionSpec(stream, filter)
        given = read_options("a subscription", options, _CHECKS)
        return SubscriptionSpec(stream, filter, **given)


_DEFAULTS = SubscriptionSpec("", "")[2:]


def _is_int(value: object) -> bool:
    return type(value) is int and value in _INT64


def _is_text(value: object) -> bool:
    return isinstance(value, str) and is_text(value)


_CHECKS = {
    "valid_until": (_is_int, "a time in microseconds"),
    "rank": (_is_text, "text"),
    "priority": (_is_int, "a whole number of 64 bits"),
    "notices": (lambda value: isinstance(value, bool), "true or false"),
    "owner": (_is_text, "text"),
}


def canonical_json(options: dict[str, Any]) -> str:
    """Options as text: the same options give the same text."""
    return json.dumps(options, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def read_options(what: str, text: str, checks: dict[str, Any]) -> dict[str, Any]:
    """The options of what `canonical_json` wrote.

    Args:
        what: has the options, for errors.
        text: the options.
        checks: for each known option whether a value is good, and what a good one is.

    Raises:
        ConfigError: the text is no JSON object, or an option is unknown or has a bad value.
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the options of {what} are no JSON: {error}") from error
    if not isinstance(given, dict):
        raise ConfigError(f"the options of {what} are an object, not {describe(given)}")
    for name, value in given.items():
        if name not in checks:
            hint = did_you_mean(name, checks) or f"there are: {', '.join(checks)}"
            raise ConfigError(f"{what} has no option {name}; {hint}")
        is_good, wanted = checks[name]
        if not is_good(value):
            raise ConfigError(f"option {name} of {what} is {wanted}, not {describe(value)}")
    return given

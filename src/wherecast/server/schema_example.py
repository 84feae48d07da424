"""A filter and a publication that a schema accepts, to suggest to whoever starts a server."""

import re
import shlex
from decimal import Decimal
from typing import Any

from wherecast.language import Filter
from wherecast.model import Attribute, Schema, WherecastError
from wherecast.model.decimals import decimal_of, decimal_text

_HALF, _ABOVE = Decimal("0.5"), Decimal("0.75")  # where in its domain a value is
_SPAN = 100  # of a domain without an end
_OPEN = (Attribute("temperature", "float"),)  # that an open schema accepts
_MOMENTS = {
    "utc": ("2026-05-01T00:00:00Z", "2026-05-01T12:30:00Z"),
    "local": ("2026-05-01T00:00:00", "2026-05-01T12:30:00"),
    "day": ("2026-05-01", "2026-05-02"),
}

_Candidate = tuple[str, str, Any]  # a filter, a value as it is typed, and the value


def example_of(schema: Schema) -> tuple[str, str] | None:
    """A filter, and a `name=value` pair that matches it; None where none was found.

    Both are as a shell takes them.
    """
    for attribute in (*schema, *_OPEN) if schema.open else schema:
        if attribute.element is not None:
            continue
        filter, text, value = _candidate(attribute)
        try:
            found = Filter(filter, schema).explain({attribute.name: value})
        except WherecastError:  # a name that a filter must quote, for instance
            continue
        if found.matched:
            return _quoted(filter), shlex.quote(f"{attribute.name}={text}")
    return None


def _candidate(attribute: Attribute) -> _Candidate:
    name = attribute.name
    if attribute.type in ("int", "float"):
        least, value = _numbers(attribute)
        text = decimal_text(value)
        return f"{name} >= {decimal_text(least)}", text, value if attribute.scale else float(text)
    if attribute.type == "string":
        text = attribute.values[0] if attribute.values else "Zagreb"
        literal = text.replace("'", "''")
        return f"{name} = '{literal}'", text, text
    if attribute.type == "timestamp":
        start, moment = _MOMENTS[attribute.clock]
        return f"{name} >= '{start}'", moment, moment
    return f"{name} = true", "true", True


def _numbers(attribute: Attribute) -> tuple[Decimal, Decimal]:
    """Two numbers in the domain of an attribute, the second one not less than the first."""
    span = _SPAN * 10**attribute.scale
    low = Decimal(0) if attribute.min is None else Decimal(repr(attribute.min))
    high = low + span if attribute.max is None else Decimal(repr(attribute.max))
    if attribute.min is None and high <= low:
        low = high - span
    first, second = (low + (high - low) * share for share in (_HALF, _ABOVE))
    if attribute.type == "int":
        first, second = (max(low, Decimal(int(one))) for one in (first, second))
    return decimal_of(first, attribute.scale), decimal_of(second, attribute.scale)


def _quoted(filter: str) -> str:
    """A filter in double quotes, where a shell leaves all within them as it is."""
    return shlex.quote(filter) if re.search(r'["$`\\!]', filter) else f'"{filter}"'

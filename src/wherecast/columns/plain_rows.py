"""Rows that can be read one by one, without Arrow: what most publishers send, one at a time.

A row is plain if it is a flat dict of declared names (in an open schema, of other words too) whose
values are texts, truths and numbers. Every other row, and every row with a problem, is left to
`decode_rows`, which gives the same values for a plain row and says what is wrong with a bad one.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from wherecast.columns.domains import canonical_value
from wherecast.model.limits import DEFAULT_LIMITS, Limits
from wherecast.model.schema import Attribute, Schema
from wherecast.model.values import EXACT_FLOAT_MAX, INT_MAX, INT_MIN, Type, ValueProblem

PlainRow = dict[str, bool | int | float | str]
"""Canonical values by declared name; missing ones are left out."""

_Read = Callable[[Any], Any]
_INFINITY = float("inf")


class _NotPlain(Exception):
    """A value is left to the readers of whole columns."""


class PlainRows:
    """Reads plain rows of a schema.

    Args:
        schema: the schema of the rows.
        limits: the largest number of attributes of a row.
    """

    def __init__(self, schema: Schema, limits: Limits = DEFAULT_LIMITS) -> None:
        self._schema = schema
        self._most = limits.publication_attributes_max
        self._readers: dict[str, _Read] = {one.name: _reader(one) for one in schema}

    def read(self, row: object) -> PlainRow | None:
        """The canonical values of a row; None where the row is not plain."""
        if type(row) is not dict or len(row) > self._most:
            return None
        readers = self._readers
        values: PlainRow = {}
        try:
            for name, value in row.items():
                reader = readers.get(name) or self._undeclared(name)
                if value is not None:
                    values[name] = reader(value)
        except (_NotPlain, ValueProblem):
            return None
        return values

    def _undeclared(self, name: object) -> _Read:
        """Reads an attribute that an open schema does not declare."""
        is_word = type(name) is str and name.isascii() and name.isidentifier()
        if not is_word or not self._schema.open or self._schema.find(str(name)) is not None:
            raise _NotPlain
        return _read_open


def plain_text(row: Mapping[str, Any]) -> bytes | None:
    """A plain row as JSON, from which `decode_rows` gives the row again.

    None where a text is none in Unicode.
    """
    try:
        return orjson.dumps(row)
    except TypeError:  # a lone surrogate
        return None


def _reader(attribute: Attribute) -> _Read:
    """Gives the canonical value of an attribute, or raises."""
    plain = None if attribute.scale else _READERS.get(attribute.type)
    if plain is None:
        return _refuse
    if not attribute.has_domain:
        return plain

    def read(value: Any) -> Any:
        return canonical_value(attribute, plain(value))

    return read


def _read_float(value: Any) -> float:
    kind = type(value)
    if kind is float and -_INFINITY < value < _INFINITY:  # NaN is not
        return value  # type: ignore[no-any-return]
    if kind is int and -EXACT_FLOAT_MAX <= value <= EXACT_FLOAT_MAX:
        return float(value)
    raise _NotPlain


def _read_int(value: Any) -> int:
    if type(value) is int and INT_MIN <= value <= INT_MAX:
        return value
    raise _NotPlain


def _read_bool(value: Any) -> bool:
    if type(value) is bool:
        return value
    raise _NotPlain


def _read_text(value: Any) -> str:
    if type(value) is str:
        return value
    raise _NotPlain


def _read_open(value: Any) -> bool | float | str:
    kind = type(value)
    return value if kind is str or kind is bool else _read_float(value)


def _refuse(value: Any) -> Any:
    raise _NotPlain


_READERS: dict[Type, _Read] = {
    "float": _read_float,
    "int": _read_int,
    "bool": _read_bool,
    "string": _read_text,
}

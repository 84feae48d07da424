"""Publications as Python mappings: rows to columns and back.

First each row is flattened: nested objects become dotted names, each name becomes the declared
name that it stands for, and a name that stands for no attribute becomes a problem. Rows that are
flat and use the declared names, as most do, skip this step. Then each attribute is converted as
one column.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

import pyarrow as pa

from wherecast.columns.array_columns import array_column_of
from wherecast.columns.arrow_schema import arrow_type, is_open_field
from wherecast.columns.comparable import held
from wherecast.columns.decoded import Decoded, DecodedColumn, RowProblem, assemble
from wherecast.columns.unreadable import Unreadable
from wherecast.columns.value_columns import column_of, open_column
from wherecast.language.meaning.formula import NOW
from wherecast.model.errors import Problem
from wherecast.model.limits import DEFAULT_LIMITS, Limits
from wherecast.model.schema import Attribute, Schema
from wherecast.model.values import describe

_SCALARS = {int, float, bool, str, NoneType}
_LEAF_TYPES = {*_SCALARS, list}
_HINTS_MAX = 20  # per input, because finding the nearest name is slow
_SHOWN_MAX = 120  # characters of a name in a message
_PROBLEMS_MAX = 100  # of one row


def decode_rows(rows: Sequence[object], schema: Schema, limits: Limits = DEFAULT_LIMITS) -> Decoded:
    """The record batch of publications given as mappings, nested or with dotted names.

    Args:
        rows: mappings from name to value; any other object is a bad row.
        schema: the schema of the rows.
        limits: the largest numbers of attributes of a row and of elements of an array, and the
            largest depth.
    """
    names = _Names(schema, limits)
    plain = names.plain
    most = limits.publication_attributes_max
    flats: list[dict[str, Any]] = []
    problems: list[RowProblem] = []
    for number, row in enumerate(rows):
        if (
            type(row) is dict
            and len(row) <= most
            and plain.issuperset(row)
            and _LEAF_TYPES.issuperset(map(type, row.values()))
        ):
            flats.append(row)
        elif (filled := names.filled(row)) is not None:
            flats.append(filled)
        else:
            flat, wrong = _settle(row, names)
            flats.append(flat)
            problems.extend((number, problem) for problem in wrong)
    present: set[str] = set().union(*flats)
    longest = limits.array_elements_max
    declared = [_column(attribute, flats, present, longest) for attribute in schema]
    undeclared = {
        name: open_column(name, [flat.get(name) for flat in flats])
        for name in present.difference(schema.names)
    }
    return assemble(schema, declared, undeclared, len(flats), problems)


def _column(
    attribute: Attribute, flats: list[dict[str, Any]], present: set[str], elements_max: int
) -> DecodedColumn:
    """The column of a declared attribute."""
    name = attribute.name
    if name not in present:
        return DecodedColumn(pa.nulls(len(flats), arrow_type(attribute)))
    values = [flat.get(name) for flat in flats]
    if attribute.element is not None:
        return array_column_of(attribute, values, elements_max)
    return column_of(attribute, values)


@dataclass(frozen=True, slots=True)
class _Record:
    """A record of a schema: its declared names by their key in the record, and its records."""

    leaves: dict[str, str]
    records: dict[str, "_Record"]

    @staticmethod
    def of(names: Iterable[tuple[str, str]], depth: int) -> "_Record":
        """The record of (key, name) pairs, with inner records down to a depth."""
        leaves = dict(names)
        inner: dict[str, dict[str, str]] = {}
        for key, name in leaves.items():
            head, dot, tail = key.partition(".")
            if dot and depth > 1:
                inner.setdefault(head, {})[tail] = name
        records = {head: _Record.of(tails.items(), depth - 1) for head, tails in inner.items()}
        return _Record(leaves, records)

    def fill(self, flat: dict[str, Any], row: dict[str, Any]) -> bool:
        """Adds the values of a row under their declared names.

        Returns False, with `flat` incomplete, if the row needs the slower way: an undeclared or
        repeated name, or a value of an unusual type.
        """
        for key, value in row.items():
            kind = type(value)
            if kind is dict:
                record = self.records.get(key)
                if record is None or not record.fill(flat, value):
                    return False
            else:
                name = self.leaves.get(key)
                if name is None or name in flat or kind not in _LEAF_TYPES:
                    return False
                flat[name] = value
        return True


class _Names:
    """Finds the attributes that dotted names stand for; caches them for one input.

    `plain` holds the names that stand for themselves: the declared names and, in an open schema,
    the undeclared names of earlier rows.
    """

    def __init__(self, schema: Schema, limits: Limits) -> None:
        self.schema = schema
        self.limits = limits
        self.plain = set(schema.names)
        self._root = _Record.of(((name, name) for name in schema.names), limits.json_depth_max)
        self._declared: dict[str, str] = {name: name for name in schema.names}
        self._records = {
            name[:place] for name in schema.names for place, sign in enumerate(name) if sign == "."
        }
        self._texts: dict[str, str] = {}

    def filled(self, row: object) -> dict[str, Any] | None:
        """The flat row of a nested row with declared names only; None for any other row."""
        flat: dict[str, Any] = {}
        if type(row) is not dict or not self._root.records or not self._root.fill(flat, row):
            return None
        return flat if len(flat) <= self.limits.publication_attributes_max else None

    def declared(self, path: str) -> str | None:
        """The declared name that a path stands for, if any."""
        name = self._declared.get(path)
        if name is None:
            attribute = self.schema.find(path)
            if attribute is not None:
                name = self._declared[path] = attribute.name
        return name

    def refusal(self, path: str, value: object) -> Problem | None:
        """The problem of an undeclared path, or None if the path is allowed.

        An open schema allows undeclared attributes. Without a value, a path is also allowed if it
        names a record of declared attributes.
        """
        if value is None and (self.schema.open or path in self._records):
            return None
        shown = _shown(path)
        if not self.schema.open:
            return Problem("unknown_attribute", self._unknown(path, shown), shown)
        if path in self.plain:
            return None
        try:
            path.encode()
        except UnicodeEncodeError:
            text = f"the name of attribute {shown} has a lone surrogate, which is no character"
            return Problem("malformed", text, shown)
        most = self.limits.schema_attributes_max
        if len(self.plain) >= most:
            text = f"attribute {shown} is one too many: the limit is {most} different names at once"
            return Problem("too_many_attributes", text, shown)
        self.plain.add(path)
        return None

    def _unknown(self, path: str, shown: str) -> str:
        """The message about an unknown name; the first few have a hint."""
        text = self._texts.get(path)
        if text is None:
            text = f"unknown attribute {shown}"
            if len(self._texts) < _HINTS_MAX and len(path) <= _SHOWN_MAX:
                hint = self.schema.hint(path)
                text = self._texts[path] = f"{text}; {hint}" if hint else text
        return text


def _shown(name: str) -> str:
    """The name for a message: shortened, with lone surrogates escaped."""
    short = name if len(name) <= _SHOWN_MAX else f"{name[:_SHOWN_MAX]}…"
    return short.encode("utf-8", "backslashreplace").decode()


def _settle(row: object, names: _Names) -> tuple[dict[str, Any], list[Problem]]:
    """The flat row by declared names, and the problems of the row."""
    if isinstance(row, Unreadable):
        return {}, [Problem(row.code, row.text)]
    if not isinstance(row, Mapping):
        return {}, [Problem("malformed", f"a publication is an object, not {describe(row)}")]
    leaves, problems = _leaves(row, names.limits.json_depth_max)
    most = names.limits.publication_attributes_max
    if len(leaves) > most:
        text = f"{len(leaves)} attributes, the limit is {most}"
        return {}, [Problem("too_many_attributes", text)]
    flat: dict[str, Any] = {}
    seen: set[str] = set()
    for path, value in leaves:
        if len(problems) >= _PROBLEMS_MAX:
            break
        declared = names.declared(path)
        name = path if declared is None else declared
        refusal = None if declared is not None else names.refusal(path, value)
        if name in seen:
            text = f"attribute {_shown(name)} is given twice"
            problems.append(Problem("conflict", text, _shown(name)))
        elif isinstance(value, Unreadable) and (refusal is None or value.code == "duplicate_key"):
            text = f"attribute {_shown(name)}: {value.text}"
            problems.append(Problem(value.code, text, _shown(name)))
        elif refusal is not None:
            problems.append(refusal)
        elif value is not None:
            flat[name] = value
        seen.add(name)
    return flat, problems


def _leaves(
    row: Mapping[Any, object], depth_max: int
) -> tuple[list[tuple[str, object]], list[Problem]]:
    """The values of a nested row with their dotted names, in order, and the row's problems."""
    leaves: list[tuple[str, object]] = []
    problems: list[Problem] = []
    waiting = [("", 1, iter(row.items()))]
    while waiting:
        prefix, depth, items = waiting[-1]
        for key, value in items:
            if not isinstance(key, str):
                text = f"attribute names are strings, not {describe(key)}"
                problems.append(Problem("malformed", text))
            elif type(value) in _LEAF_TYPES or not isinstance(value, Mapping):
                leaves.append((prefix + key, value))
            elif depth >= depth_max:
                shown = _shown(prefix + key)
                text = f"attribute {shown} is nested deeper than {depth_max}"
                problems.append(Problem("too_deep", text, shown))
            else:
                waiting.append((f"{prefix}{key}.", depth + 1, iter(value.items())))
                break
        else:
            waiting.pop()
    return leaves, problems


def rows_of(batch: pa.RecordBatch, schema: Schema) -> list[dict[str, Any]]:
    """The canonical rows of a batch, as `Schema.read` gives them; missing values are left out.

    Args:
        batch: a batch with the columns of the schema, from a reader of this package.
        schema: the schema of the batch.
    """
    rows: list[dict[str, Any]] = [{} for _ in range(batch.num_rows)]
    for field, array in zip(batch.schema, batch.columns, strict=True):
        if is_open_field(field):
            parts = array.flatten()
        elif field.name in schema.positions or field.name == NOW.name:
            parts = [held(array)]
        else:
            continue
        for part in parts:
            for row, value in zip(rows, part.to_pylist(), strict=True):
                if value is not None:
                    row[field.name] = tuple(value) if type(value) is list else value
    return rows

"""Publications as CSV: a header, then one row per line. An empty field is a missing value."""

import csv
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from wherecast.columns import decode_rows
from wherecast.columns.arrow_schema import arrow_type
from wherecast.columns.unreadable import Unreadable
from wherecast.model import Attribute, ConfigError, Schema, Type
from wherecast.pipeline.files.file_part import PART_ROWS, RowsPart, part_at
from wherecast.pipeline.files.infer_types import Kind, inferred_schema, is_one_type, kind_of
from wherecast.pipeline.stages.batch_stages import validated

_INT = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_BOOLS = {"true": True, "false": False}


class CsvFile:
    """A CSV file; without a closed schema, types are inferred from all values of a column."""

    def __init__(
        self, path: Path, schema: Schema | None = None, part_rows: int = PART_ROWS
    ) -> None:
        self._path = path
        self._part_rows = part_rows
        self._given = schema
        self._header = next(rows_of_csv(path), [])
        if not self._header:
            raise ConfigError(f"{path} is empty; a CSV file begins with the names of its columns")
        twice = {name for name in self._header if self._header.count(name) > 1}
        if twice:
            raise ConfigError(f"{path} has more than one column {', '.join(sorted(twice))}")

    @cached_property
    def schema(self) -> Schema:
        """The given schema, or the inferred one."""
        if self._given is not None and not self._given.open:
            return self._given
        kinds: dict[str, set[Kind]] = {name: set() for name in self._header}
        for row in self._rows():
            for name, text in zip(self._header, row, strict=False):
                if text:
                    kinds[name].add(kind_of(_guess(text)))
        for found in kinds.values():
            if not is_one_type(found):  # text is the one type that all values of a CSV file have
                found.clear()
                found.add("string")
        return inferred_schema(kinds, self._given)

    @cached_property
    def columns(self) -> pa.Schema:
        """The columns of the file with their types; columns without an attribute are strings."""
        types = [pa.string() if a is None else arrow_type(a) for a in self._attributes]
        return pa.schema(list(zip(self._header, types, strict=True)))

    @cached_property
    def _attributes(self) -> list[Attribute | None]:
        """The attribute of each column, None for a column that the schema does not name.

        Raises:
            ConfigError: the attribute of a column is an array.
        """
        found = [self.schema.find(name) for name in self._header]
        for attribute in found:
            if attribute is not None and attribute.element is not None:
                raise ConfigError(
                    f"{self._path}: attribute {attribute.name} is {attribute.kind}, which a CSV"
                    " file cannot hold; use .jsonl or .parquet"
                )
        return found

    def parts(self) -> Iterator[RowsPart]:
        """The rows, from the first to the last."""
        rows = self._rows()
        start = 0
        while chunk := list(islice(rows, self._part_rows)):
            yield self._part(chunk, start)
            start += len(chunk)

    def _rows(self) -> Iterator[list[str]]:
        """The rows after the header; empty lines are skipped."""
        return islice(rows_of_csv(self._path), 1, None)

    def _part(self, rows: list[list[str]], start: int) -> RowsPart:
        readers = [
            (place, attribute.name, _same if attribute.scale else _READERS[attribute.type])
            for place, attribute in enumerate(self._attributes)
            if attribute is not None
        ]
        width = len(self._header)
        records: list[object] = [
            {name: read(row[place]) if row[place] else None for place, name, read in readers}
            if len(row) == width
            else Unreadable("malformed", f"{len(row)} fields, the header has {width}")
            for row in rows
        ]
        decoded = decode_rows(records, self.schema.without_domains())
        good = decoded.rows.tolist()
        arrays = [
            _texts([rows[row][place] for row in good])
            if attribute is None
            else decoded.batch.column(attribute.name)
            for place, attribute in enumerate(self._attributes)
        ]
        batch = pa.RecordBatch.from_arrays(arrays, schema=self.columns)
        return part_at(batch, validated(decoded), start)


def rows_of_csv(path: Path) -> Iterator[list[str]]:
    """The rows of a CSV file, its header first; empty lines are skipped.

    Bytes that are not UTF-8 become lone surrogates, which every attribute refuses.
    """
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file)
        try:
            yield from filter(None, reader)
        except csv.Error as error:
            raise ConfigError(f"{path}, line {reader.line_num}: {error}") from None


def _texts(values: list[str]) -> pa.Array:
    """A column without an attribute, as strings; bytes that are not UTF-8 are replaced."""
    clean = (v.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for v in values)
    return pa.array([value or None for value in clean], pa.string())


def _guess(text: str) -> Any:
    """The value of a text: an int, a bool or a float if it reads as one, else the text."""
    for read in (_int, _bool, _float):
        value = read(text)
        if not isinstance(value, str):
            return value
    return text


def _int(text: str) -> Any:
    """The int or the float of a text, or the text itself if it is not a number."""
    return int(text) if _INT.fullmatch(text.strip()) else _float(text)


def _float(text: str) -> Any:
    try:
        return text if "_" in text else float(text)
    except ValueError:
        return text


def _bool(text: str) -> Any:
    return _BOOLS.get(text.strip().lower(), text)


def _same(text: str) -> Any:
    return text


_READERS: dict[Type, Callable[[str], Any]] = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "string": _same,
    "timestamp": _same,
}

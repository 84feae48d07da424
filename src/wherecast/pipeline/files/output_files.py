"""Files of results, .jsonl, .parquet or .csv, written completely or not at all.

In JSON lines a dotted name becomes a field of a nested object, and missing values are left out. In
CSV the column of a struct's field has a dotted name, and lists and maps are JSON text.
"""

import base64
import csv
import io
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from wherecast.columns.arrow_schema import is_open_field
from wherecast.model import ConfigError, format_time
from wherecast.model.errors import reason_of
from wherecast.model.times import time_micros
from wherecast.pipeline.files.publication_files import known_suffix


class Output(Protocol):
    """A file that receives record batches."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Adds rows."""

    def close(self) -> None:
        """Completes the file."""


@contextmanager
def open_output(path: Path, columns: pa.Schema) -> Iterator[Output]:
    """A file with the given columns; on an error the path keeps its old content.

    Raises:
        ConfigError: the suffix is unknown, or the file cannot be written.
    """
    kind = _KINDS[known_suffix(path)]
    draft = path.with_name(f".{path.name}.part")
    try:
        file = draft.open("wb")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {reason_of(error)}") from None
    try:
        with file, closing(kind(file, columns)) as output:
            yield output
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


class _JsonLines:
    def __init__(self, file: IO[bytes], columns: pa.Schema) -> None:
        self._file = file

    def write(self, batch: pa.RecordBatch) -> None:
        for record in _merge_open_columns(batch).to_pylist():
            self._file.write(orjson.dumps(_plain(_nest(record))) + b"\n")

    def close(self) -> None:
        pass


class _Csv:
    def __init__(self, file: IO[bytes], columns: pa.Schema) -> None:
        self._file = file
        self._write([_flat(columns.empty_table()).column_names])

    def write(self, batch: pa.RecordBatch) -> None:
        table = _flat(pa.Table.from_batches([_merge_open_columns(batch)]))
        columns = [[_text(value) for value in column.to_pylist()] for column in table.columns]
        self._write(list(zip(*columns, strict=True)))

    def _write(self, rows: list[Any]) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        self._file.write(text.getvalue().encode("utf-8"))

    def close(self) -> None:
        pass


class _Parquet:
    def __init__(self, file: IO[bytes], columns: pa.Schema) -> None:
        empty = pa.RecordBatch.from_pylist([], schema=columns)
        self._writer = pq.ParquetWriter(file, _merge_open_columns(empty).schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(_merge_open_columns(batch))

    def close(self) -> None:
        self._writer.close()


_KINDS: dict[str, Any] = {".jsonl": _JsonLines, ".csv": _Csv, ".parquet": _Parquet}


def _merge_open_columns(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with the undeclared attributes of an open schema as text."""
    arrays, fields = [], []
    for field, array in zip(batch.schema, batch.columns, strict=True):
        if is_open_field(field):
            parts = (
                next((v for v in (row or {}).values() if v is not None), None)
                for row in array.to_pylist()
            )
            array = pa.array([None if part is None else _text(part) for part in parts], pa.string())
            field = pa.field(field.name, pa.string())
        arrays.append(array)
        fields.append(field)
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _flat(table: pa.Table) -> pa.Table:
    """The table with the fields of its structs as columns."""
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def _nest(record: dict[str, Any]) -> dict[str, Any]:
    """The record with dotted names as nested objects; a name that conflicts stays dotted."""
    result: dict[str, Any] = {}
    for name, value in record.items():
        *parents, leaf = name.split(".")
        place = result
        for parent in parents:
            inner = place.setdefault(parent, {})
            if not isinstance(inner, dict):
                place, leaf = result, name
                break
            place = inner
        place[leaf] = value
    return result


def _plain(value: Any) -> Any:
    """The value as JSON can write it; missing fields are left out."""
    if isinstance(value, dict):
        kept = {str(key): _plain(inner) for key, inner in value.items() if inner is not None}
        return {key: inner for key, inner in kept.items() if inner != {}}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, datetime):
        # A time without a zone (timestamp_ntz) must not be written as UTC.
        return value.isoformat() if value.tzinfo is None else format_time(time_micros(value))
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value if isinstance(value, str | int | float | None) else str(value)


def _text(value: Any) -> str:
    """The value as a field of a CSV file."""
    plain = _plain(value)
    if plain is None:
        return ""
    if isinstance(plain, bool | dict | list):
        return orjson.dumps(plain).decode()
    return str(plain)

"""Publications as JSON lines: one object per line, nested names dotted; blank lines are skipped."""

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from wherecast.columns import arrow_schema, decode_ndjson
from wherecast.columns.arrow_schema import open_field
from wherecast.model import Schema
from wherecast.pipeline.files.file_part import PART_ROWS, RowsPart, part_at
from wherecast.pipeline.files.infer_types import Kind, infer, inferred_schema, leaves
from wherecast.pipeline.stages.batch_stages import validated


class JsonLinesFile:
    """A file of JSON lines; without a closed schema, an extra pass over the file infers types."""

    def __init__(
        self, path: Path, schema: Schema | None = None, part_rows: int = PART_ROWS
    ) -> None:
        self._path = path
        self._part_rows = part_rows
        self._given = schema
        self._infers = schema is None or schema.open

    @cached_property
    def schema(self) -> Schema:
        """The given schema, or the inferred one."""
        if self._given is not None and not self._infers:
            return self._given
        return inferred_schema(self._kinds, self._given)

    @cached_property
    def columns(self) -> pa.Schema:
        """The attributes, then names with values of several kinds.

        Such names have the type of undeclared attributes in an open schema, else they are JSON
        text.
        """
        found = list(arrow_schema(self.schema))
        if self.schema.open:
            several = [name for name in self._kinds if self.schema.find(name) is None]
            found += [open_field(name) for name in several]
        found += [pa.field(name, pa.string()) for name in self.schema.unsupported]
        return pa.schema(found)

    @cached_property
    def _kinds(self) -> dict[str, set[Kind]]:
        return infer(self._records())

    def parts(self) -> Iterator[RowsPart]:
        """The rows, from the first to the last."""
        start = 0
        with self._path.open("rb") as file:
            lines = (line for line in map(bytes.strip, file) if line)
            while chunk := list(islice(lines, self._part_rows)):
                yield self._part(chunk, start)
                start += len(chunk)

    def _part(self, lines: list[bytes], start: int) -> RowsPart:
        texts: list[dict[str, str]] = [{}] * len(lines)
        if self.schema.unsupported:
            pairs = [_split_unsupported(line, self.schema) for line in lines]
            lines, texts = [line for line, _ in pairs], [text for _, text in pairs]
        decoded = decode_ndjson(b"\n".join(lines), self.schema.without_domains())
        there = dict(zip(decoded.batch.schema.names, decoded.batch.columns, strict=True))
        good = [texts[row] for row in decoded.rows.tolist()]
        arrays = []
        for field in self.columns:
            if field.name in self.schema.unsupported:
                arrays.append(pa.array([text.get(field.name) for text in good], pa.string()))
            elif field.name in there:
                arrays.append(there[field.name])
            else:
                arrays.append(pa.nulls(len(good), field.type))
        batch = pa.RecordBatch.from_arrays(arrays, schema=self.columns)
        return part_at(batch, validated(decoded), start)

    def _records(self) -> Iterator[dict[str, Any]]:
        """The lines that are JSON objects."""
        with self._path.open("rb") as file:
            for line in file:
                try:
                    record = orjson.loads(line)
                except orjson.JSONDecodeError:
                    continue
                if isinstance(record, dict):
                    yield record


def _split_unsupported(line: bytes, schema: Schema) -> tuple[bytes, dict[str, str]]:
    """The line without the names that are no attributes, and their values as JSON text."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return line, {}
    flat = list(leaves(record)) if isinstance(record, dict) else []
    texts = {
        name: orjson.dumps(value).decode()
        for name, value in flat
        if name in schema.unsupported and value is not None
    }
    if not any(name in schema.unsupported for name, _ in flat):
        return line, {}
    kept = {name: value for name, value in flat if name not in schema.unsupported}
    return orjson.dumps(kept), texts

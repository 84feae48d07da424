"""Files of filters: the columns `id` and `filter`; other columns are ignored."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from wherecast.model import ConfigError
from wherecast.model.values import INT_MAX, INT_MIN
from wherecast.pipeline.files.publication_files import known_suffix, need_file
from wherecast.pipeline.files.read_csv import rows_of_csv
from wherecast.pipeline.files.read_parquet import read_parquet_schema

_WHOLE = re.compile(r"0|-?[1-9]\d{0,18}", re.ASCII)


def read_filters(path: Path) -> pa.Table:
    """The ids and filters of a file; ids are integers if all of them are, else strings.

    Raises:
        ConfigError: the file cannot be read, lacks a column, or has ids of several types.
    """
    suffix = known_suffix(path)
    need_file(path)
    if suffix == ".parquet":
        return _from_parquet(path)
    pairs = list(_from_lines(path) if suffix == ".jsonl" else _from_csv(path))
    ids, texts = [id for id, _ in pairs], [text for _, text in pairs]
    if suffix == ".csv" and all(id is None or _WHOLE.fullmatch(id) for id in ids):
        ids = [None if id is None else int(id) for id in ids]
    return pa.table({"id": _ids(path, ids), "filter": pa.array(texts, pa.string())})


def _from_parquet(path: Path) -> pa.Table:
    _need_columns(path, read_parquet_schema(path).names)
    table = pq.read_table(path, columns=["id", "filter"])
    kinds = pa.types
    type_ = table.schema.field("id").type
    if not (kinds.is_integer(type_) or kinds.is_string(type_) or kinds.is_large_string(type_)):
        raise ConfigError(f"{path}: ids are strings or integers, not {type_}")
    text = table.schema.field("filter").type
    if not (kinds.is_string(text) or kinds.is_large_string(text)):
        raise ConfigError(f"{path}: filters are strings, not {text}")
    return table.select(["id", "filter"])


def _from_csv(path: Path) -> Iterator[tuple[Any, Any]]:
    rows = rows_of_csv(path)
    header = next(rows, [])
    _need_columns(path, header)
    id, text = header.index("id"), header.index("filter")
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise ConfigError(
                f"{path}, row {number}: {len(row)} fields, the header has {len(header)}"
            )
        yield row[id] or None, row[text] or None


def _from_lines(path: Path) -> Iterator[tuple[Any, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise ConfigError(f"{path}, line {number}: not valid JSON: {error}") from None
            if not isinstance(record, dict) or not {"id", "filter"} <= record.keys():
                raise ConfigError(f'{path}, line {number}: needs {{"id": …, "filter": …}}')
            text = record["filter"]
            if text is not None and not isinstance(text, str):
                raise ConfigError(f"{path}, line {number}: the filter is not a string")
            yield record["id"], text


def _need_columns(path: Path, names: list[str]) -> None:
    missing = [name for name in ("id", "filter") if name not in names]
    if missing:
        raise ConfigError(
            f"{path} has no column {' and '.join(missing)}; it has {', '.join(names)}"
        )


def _ids(path: Path, ids: list[Any]) -> pa.Array:
    """The ids as strings or as integers."""
    kinds = {type(id) for id in ids if id is not None}
    if kinds <= {str}:
        return pa.array(ids, pa.string())
    if kinds == {int} and all(id is None or INT_MIN <= id <= INT_MAX for id in ids):
        return pa.array(ids, pa.int64())
    raise ConfigError(f"{path}: ids are all strings or all 64-bit integers")

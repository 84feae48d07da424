"""Loads stored filters into a process: maps each file once and shares it between versions.

Concurrency: any number of threads may load; one thread maps, the others wait.
"""

import json
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.matching import IndexPart
from wherecast.matching.matches import Id
from wherecast.model import SnapshotError
from wherecast.pipeline.filters.loaded_filters import LoadedFilters, with_columns
from wherecast.pipeline.filters.stored_filters import StoredFilters, StoredPart, counters

Open = Callable[[str], Path]  # the local file of a blob
_Found = TypeVar("_Found")

_LOADED_MAX = 4  # sets of filters that this process keeps loaded
_PARTS_MAX = 256  # parts that this process keeps mapped
_TRIES = 3
_lock = RLock()
_parts: OrderedDict[str, IndexPart] = (
    OrderedDict()
)  # by the name of the index, without hidden filters
_filters: OrderedDict[Any, LoadedFilters] = OrderedDict()


def load(stored: StoredFilters, open_blob: Open) -> LoadedFilters:
    """The filters, memory-mapped; this process caches the last few.

    Raises:
        SnapshotError: a blob is missing or damaged.
    """
    with _lock:
        found = _filters.pop(stored.key, None)
        if found is None:
            found = _load(stored, open_blob)
        _keep(_filters, stored.key, found, _LOADED_MAX)
        return found


def _load(stored: StoredFilters, open_blob: Open) -> LoadedFilters:
    counters["filters loaded"] += 1
    parts = [load_part(part, open_blob) for part in stored.parts]
    batches = [read_batch(part.kept, open_blob) for part in stored.parts if part.kept is not None]
    kept = batches[0] if len(batches) == 1 else pa.concat_batches(batches or [_none(stored)])
    type_ = pa.type_for_alias(stored.id_type)
    return with_columns(parts, kept, type_, stored.schema, stored.enforced)


def _none(stored: StoredFilters) -> pa.RecordBatch:
    """The further columns, without rows."""
    columns = json.loads(stored.columns)
    if not columns:
        return pa.record_batch([], [])
    from pyspark.sql.types import StructType

    from wherecast.pipeline.spark.frame_columns import arrow_schema_of

    kept = arrow_schema_of(StructType.fromJson(columns).fields[1:])
    return pa.RecordBatch.from_pylist([], schema=kept)


def load_part(stored: StoredPart, open_blob: Open) -> IndexPart:
    """The filters of a part, memory-mapped, without its further columns."""
    with _lock:
        part = _parts.pop(stored.index, None)
        if part is None:
            part = _from_file(stored.index, open_blob, IndexPart.load)
            counters["parts mapped"] += 1
        _keep(_parts, stored.index, part, _PARTS_MAX)
    if stored.hidden is None:
        return part
    return part.without(values_of(read_batch(stored.hidden, open_blob).column(0)))


def read_batch(name: str, open_blob: Open) -> pa.RecordBatch:
    """The batch of a blob, memory-mapped."""
    return _from_file(name, open_blob, _map_batch)


def filter_table(stored: StoredPart, open_blob: Open) -> pa.Table:
    """The ids, texts and further columns of the visible filters of a part."""
    part = load_part(stored, open_blob)
    names, columns = ["id", "filter"], [part.ids, read_batch(stored.texts, open_blob).column(0)]
    if stored.kept is not None:
        kept = read_batch(stored.kept, open_blob)
        names, columns = [*names, *kept.schema.names], [*columns, *kept.columns]
    shown = np.setdiff1d(np.arange(len(part)), part.hidden)
    table = pa.Table.from_arrays(columns, names)
    return table if len(shown) == len(part) else table.take(array_of(shown))


def one_naming(stored: StoredFilters, attribute: str, open_blob: Open) -> Id | None:
    """The id of some filter that names an attribute; None if there is no such filter."""
    for part in stored.parts:
        if any(attribute == name for name, _ in part.attributes):
            loaded_part = load_part(part, open_blob)
            places = loaded_part.naming(attribute)
            if len(places):
                found: Id = loaded_part.ids[int(places[0])].as_py()
                return found
    return None


def _from_file(name: str, open_blob: Open, read: Callable[[Path], _Found]) -> _Found:
    """The content of a blob; fetches a blob again that left the host's cache before the read."""
    for _ in range(_TRIES - 1):
        path = open_blob(name)
        try:
            return read(path)
        except (FileNotFoundError, SnapshotError):
            if path.exists():
                raise
    return read(open_blob(name))


def _map_batch(path: Path) -> pa.RecordBatch:
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).get_batch(0)


def _keep(cache: OrderedDict[Any, Any], key: Any, value: Any, most: int) -> None:
    cache[key] = value
    while len(cache) > most:
        cache.popitem(last=False)

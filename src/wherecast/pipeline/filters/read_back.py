"""Reads stored filters back: as a table, or one by its id."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from wherecast.model import ConfigError
from wherecast.model.names import nearest
from wherecast.pipeline.filters.filter_loading import Open, filter_table, load_part, read_batch
from wherecast.pipeline.filters.stored_filters import StoredFilters, StoredPart

_SHOWN_MAX = 3
_COMPARED_MAX = 100_000  # ids among which the nearest is looked for


class MissingFilter(ConfigError, KeyError):
    """The set does not hold some of the given ids; nothing was changed.

    Attributes:
        ids: the first missing ids.
        count: number of missing ids.
        known: a text that says which ids there are; empty if it is not known.
    """

    def __init__(self, ids: Sequence[str | int], count: int, known: str = "") -> None:
        self.ids = tuple(ids)
        self.count = count
        self.known = known
        super().__init__(self.ids, count, known)

    def __str__(self) -> str:
        named = ", ".join(map(repr, self.ids)) + (", …" if self.count > len(self.ids) else "")
        noun = "id is" if self.count == 1 else "ids are"
        text = f"{self.count} {noun} not in the set: {named}"
        return f"{text}; {self.known}" if self.known else text


def read_table(stored: StoredFilters, columns: pa.Schema, open_blob: Open) -> pa.Table:
    """The visible filters: `id`, `filter` and the further columns, sorted by id.

    Args:
        stored: the filters.
        columns: the id and the further columns, with their types.
        open_blob: opens a blob of the filters.
    """
    ids, *kept = columns
    schema = pa.schema([ids.with_name("id"), pa.field("filter", pa.string()), *kept])
    parts = [filter_table(part, open_blob) for part in stored.parts]
    tables = [part.rename_columns(schema.names).cast(schema) for part in parts]
    return pa.concat_tables([schema.empty_table(), *tables]).sort_by("id")


def read_one(stored: StoredFilters, id_: object, open_blob: Open) -> dict[str, Any]:
    """The filter with an id: `id`, `filter` and the further columns.

    Raises:
        MissingFilter: no filter has this id.
        ConfigError: the value cannot be an id.
    """
    if not isinstance(id_, str | int) or isinstance(id_, bool):
        raise ConfigError(f"an id is a string or an integer, not {id_!r}")
    is_text = "string" in stored.id_type
    if isinstance(id_, str) == is_text:
        try:
            wanted = pa.array([id_], pa.large_string() if is_text else pa.int64())
        except OverflowError:  # beyond 64 bits, which no id has
            wanted = pa.array([], pa.int64())
        for part in stored.parts:
            places = load_part(part, open_blob).find(wanted)
            if len(places):
                return _row(part, int(places[0]), id_, open_blob)
    raise MissingFilter([id_], 1, _known(stored, id_, open_blob))


def _row(stored: StoredPart, place: int, id_: str | int, open_blob: Open) -> dict[str, Any]:
    text = read_batch(stored.texts, open_blob).column(0)[place].as_py()
    row: dict[str, Any] = {"id": id_, "filter": text}
    if stored.kept is None:
        return row
    row.update(read_batch(stored.kept, open_blob).slice(place, 1).to_pylist()[0])
    return row


def _known(stored: StoredFilters, id_: str | int, open_blob: Open) -> str:
    """A text about the ids that the filters have, the nearest first."""
    count = len(stored)
    if not count:
        return "there are no filters"
    ids: list[str | int] = []
    for part in stored.parts:
        loaded = load_part(part, open_blob)
        places = np.setdiff1d(np.arange(len(loaded)), loaded.hidden)
        ids += loaded.ids.take(pa.array(places[:_COMPARED_MAX])).to_pylist()
    close = nearest(str(id_), map(str, ids)) if count <= _COMPARED_MAX else None
    if close is not None:
        return f"did you mean {close if isinstance(ids[0], int) else repr(close)}?"
    shown = ", ".join(map(repr, sorted(ids[:_SHOWN_MAX]))) + (", …" if count > _SHOWN_MAX else "")
    return f"there {'is 1 id' if count == 1 else f'are {count} ids'}: {shown}"

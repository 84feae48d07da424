"""The columns of ids and filters that `Index.add_all` takes, from pairs, mappings and tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.columns.sources import table_of
from wherecast.matching.ids import Ids
from wherecast.matching.matches import Id
from wherecast.model import ConfigError, FilterError

_SHOWN_MAX = 3


def pairs_of(filters: Any) -> Iterator[tuple[Id, Any]]:
    """Pairs of id and filter from a mapping or an iterable of them."""
    if isinstance(filters, Mapping):
        yield from filters.items()
        return
    for pair in filters:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise ConfigError(f"expected pairs of id and filter, not {pair!r}")
        yield pair[0], pair[1]


def arrow_columns(filters: Any) -> tuple[pa.Array, pa.Array]:
    """The columns `id` and `filter` of a table."""
    table = table_of(filters)
    missing = [name for name in ("id", "filter") if name not in table.column_names]
    if missing:
        raise ConfigError(f"a table of filters has the columns id and filter, not {missing}")
    ids, texts = table.column("id").combine_chunks(), table.column("filter").combine_chunks()
    if pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_decode()
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    if ids.null_count:
        raise ConfigError("an id is a string or an int, not NoneType")
    if pa.types.is_integer(ids.type):
        try:
            return ids.cast(pa.int64()), texts
        except pa.ArrowInvalid:
            raise ConfigError("an id that is an int has at most 64 bits") from None
    if pa.types.is_string(ids.type) or ids.type in (pa.large_string(), pa.string_view()):
        return ids.cast(pa.large_string()), texts
    if not len(ids):
        return array_of(np.zeros(0, np.int64)), texts
    raise ConfigError(f"an id is a string or an int, not {ids.type}")


def kept_rows(ids: Ids, bad: list[int]) -> npt.NDArray[np.bool_] | None:
    """The rows to add: good ones, and of several rows with one id the last; None for all rows."""
    kept = np.ones(len(ids), bool)
    kept[bad] = False
    good = np.flatnonzero(kept)
    coded = ids.array.take(array_of(good)).dictionary_encode()
    if len(coded.dictionary) < len(good):
        last = np.zeros(len(coded.dictionary), np.int64)
        last[values_of(coded.indices)] = good
        kept[:] = False
        kept[last] = True
    return None if kept.all() else kept


def bad_filters(bad: list[tuple[Id, FilterError]]) -> FilterError:
    """One error for several bad filters: the first few and the count."""
    shown = "; ".join(f"{id!r}: {error.line}" for id, error in bad[:_SHOWN_MAX])
    more = f" and {len(bad) - _SHOWN_MAX} more" if len(bad) > _SHOWN_MAX else ""
    first = bad[0][1]
    return FilterError(f"{len(bad)} bad filters: {shown}{more}", first.position, first.hint)

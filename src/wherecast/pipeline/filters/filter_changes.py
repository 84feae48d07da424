"""Changes of stored filters: each gives the list of parts after it, and writes only what is new.

Filters that are added become a part of their own; those that are removed or replaced are hidden in
theirs. Neighbouring parts of about one size are joined, so that there are few of them, and a filter
is written again only as often as parts have sizes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of, values_of
from wherecast.matching import join_parts, run_tiers
from wherecast.pipeline.filters.filter_loading import Open, load_part, read_batch
from wherecast.pipeline.filters.filter_table import FilterPart
from wherecast.pipeline.filters.stored_filters import (
    Folder,
    StoredFilters,
    StoredPart,
    store_part,
    with_hidden,
)


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """Number of filters that a change added, replaced and removed."""

    added: int = 0
    replaced: int = 0
    removed: int = 0


def add(
    base: StoredFilters, new: FilterPart, folder: Folder, open_blob: Open
) -> tuple[StoredFilters, ChangeCounts]:
    """The filters with some more; one of an id that is there takes its place."""
    parts, hidden = _hidden(base.parts, new.part.ids, folder, open_blob)
    if len(new.part):
        parts = [*parts, store_part(new, folder)]
    counts = ChangeCounts(len(new.part) - hidden, hidden)
    return replace(base, parts=_settled(parts, folder, open_blob)), counts


def remove(
    base: StoredFilters, ids: pa.Array, folder: Folder, open_blob: Open
) -> tuple[StoredFilters, ChangeCounts]:
    """The filters without those of some ids, int64 or large_string; others are left alone."""
    parts, hidden = _hidden(base.parts, ids, folder, open_blob)
    return replace(base, parts=_settled(parts, folder, open_blob)), ChangeCounts(removed=hidden)


def replace_all(
    base: StoredFilters, new: FilterPart, folder: Folder, open_blob: Open
) -> tuple[StoredFilters, ChangeCounts]:
    """The new filters in the place of all others."""
    there = sum(len(load_part(part, open_blob).find(new.part.ids)) for part in base.parts)
    parts = (store_part(new, folder),) if len(new.part) else ()
    return replace(base, parts=parts), ChangeCounts(len(new.part) - there, there, len(base) - there)


def missing(base: StoredFilters, ids: pa.Array, open_blob: Open) -> pa.Array:
    """The ids that no filter has."""
    there = np.zeros(len(ids), np.bool_)
    for stored in base.parts:
        part = load_part(stored, open_blob)
        found = part.ids.take(array_of(part.find(ids)))
        if len(found):
            there |= values_of(pc.is_in(ids, value_set=found))
    return ids.filter(array_of(~there))


def compact(base: StoredFilters, folder: Folder, open_blob: Open) -> StoredFilters:
    """The same filters as one part."""
    if len(base.parts) == 1 and base.parts[0].hidden is None:
        return base
    return replace(base, parts=_joined(base.parts, folder, open_blob))


def _hidden(
    parts: Sequence[StoredPart], ids: pa.Array, folder: Folder, open_blob: Open
) -> tuple[list[StoredPart], int]:
    """The parts with some ids hidden, and the number of filters that had such an id."""
    found, count = [], 0
    for stored in parts:
        part = load_part(stored, open_blob)
        places = part.find(ids)
        count += len(places)
        if len(places) == len(stored):
            continue  # nothing is left of it
        if len(places):
            stored = with_hidden(stored, part.without(places), folder)
        found.append(stored)
    return found, count


def _settled(parts: list[StoredPart], folder: Folder, open_blob: Open) -> tuple[StoredPart, ...]:
    """The parts, after neighbours of about one size were joined."""
    while (due := run_tiers.due([(part.filters, part.hidden_count) for part in parts])) is not None:
        parts = [*parts[: due.start], *_joined(parts[due], folder, open_blob), *parts[due.stop :]]
    return tuple(parts)


def _joined(parts: Sequence[StoredPart], folder: Folder, open_blob: Open) -> tuple[StoredPart, ...]:
    """One part with the visible filters of several; no part where none is visible."""
    if not sum(len(part) for part in parts):
        return ()
    one, places = join_parts([load_part(part, open_blob) for part in parts])
    taken = array_of(places)
    texts = pa.concat_arrays([read_batch(part.texts, open_blob).column(0) for part in parts])
    batches = [read_batch(part.kept, open_blob) for part in parts if part.kept is not None]
    kept = pa.concat_batches(batches).take(taken) if batches else pa.record_batch([], [])
    return (store_part(FilterPart(one, texts.take(taken), kept), folder),)

"""Changes of stored filters: each returns the new list of parts, and writes only new files.

Added filters become a part of their own. Removed and replaced filters are hidden in their parts.
Neighbouring parts of about the same size are joined, so that there are few parts; a filter is
rewritten at most once per size class of parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of, values_of
from wherecast.matching import join_parts, run_tiers
from wherecast.matching.run_tiers import TIER_FILTERS
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
    base: StoredFilters,
    new: FilterPart,
    folder: Folder,
    open_blob: Open,
    tier_filters: int = TIER_FILTERS,
) -> tuple[StoredFilters, ChangeCounts]:
    """The filters with new ones added; a new filter replaces the one with the same id."""
    parts, hidden = _hide(base.parts, new.part.ids, folder, open_blob)
    if len(new.part):
        parts = [*parts, store_part(new, folder)]
    counts = ChangeCounts(len(new.part) - hidden, hidden)
    return replace(base, parts=_join_neighbours(parts, folder, open_blob, tier_filters)), counts


def remove(
    base: StoredFilters,
    ids: pa.Array,
    folder: Folder,
    open_blob: Open,
    tier_filters: int = TIER_FILTERS,
) -> tuple[StoredFilters, ChangeCounts]:
    """The filters without those of the given ids, int64 or large_string; ignores unknown ids."""
    parts, hidden = _hide(base.parts, ids, folder, open_blob)
    return replace(
        base, parts=_join_neighbours(parts, folder, open_blob, tier_filters)
    ), ChangeCounts(removed=hidden)


def replace_all(
    base: StoredFilters, new: FilterPart, folder: Folder, open_blob: Open
) -> tuple[StoredFilters, ChangeCounts]:
    """The new filters in place of all others."""
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
    """The same filters, in one part."""
    if len(base.parts) == 1 and base.parts[0].hidden is None:
        return base
    return replace(base, parts=_join(base.parts, folder, open_blob))


def _hide(
    parts: Sequence[StoredPart], ids: pa.Array, folder: Folder, open_blob: Open
) -> tuple[list[StoredPart], int]:
    """The parts with the given ids hidden, and the number of filters that this hides."""
    found, count = [], 0
    for stored in parts:
        part = load_part(stored, open_blob)
        places = part.find(ids)
        count += len(places)
        if len(places) == len(stored):
            continue  # the part has no visible filter left
        if len(places):
            stored = with_hidden(stored, part.without(places), folder)
        found.append(stored)
    return found, count


def _join_neighbours(
    parts: list[StoredPart], folder: Folder, open_blob: Open, tier_filters: int
) -> tuple[StoredPart, ...]:
    """The parts with neighbours of about the same size joined."""
    while True:
        due = run_tiers.due([(part.filters, part.hidden_count) for part in parts], tier_filters)
        if due is None:
            return tuple(parts)
        parts = [*parts[: due.start], *_join(parts[due], folder, open_blob), *parts[due.stop :]]


def _join(parts: Sequence[StoredPart], folder: Folder, open_blob: Open) -> tuple[StoredPart, ...]:
    """One part with the visible filters of several parts; no part if none is visible."""
    if not sum(len(part) for part in parts):
        return ()
    one, places = join_parts([load_part(part, open_blob) for part in parts])
    taken = array_of(places)
    texts = pa.concat_arrays([read_batch(part.texts, open_blob).column(0) for part in parts])
    batches = [read_batch(part.kept, open_blob) for part in parts if part.kept is not None]
    kept = pa.concat_batches(batches).take(taken) if batches else pa.record_batch([], [])
    return (store_part(FilterPart(one, texts.take(taken), kept), folder),)

"""Compares a joined table with the table of the same texts, read at once."""

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from wherecast.language import PredicateTable, read_filters
from wherecast.language.table.predicate_table import Distances
from wherecast.language.table.table_join import joined
from wherecast.model import Schema

ARRAYS = (
    "conjunction_offsets", "predicate_offsets", "attribute", "kind", "low", "high", "jumps",
    "set_keys",
)  # fmt: skip
Cut = Sequence[tuple[Sequence[str], Sequence[bool] | None]]  # texts, and which of them are kept


def assert_joined(schema: Schema, cut: Cut) -> PredicateTable:
    """Joins the tables of parts of a column; all must be as if it had been read at once."""
    tables = [read_filters(texts, schema) for texts, _ in cut]
    masks = [None if keep is None else np.array(keep, bool) for _, keep in cut]
    sums = [table.checksum() for table in tables]
    kept = [
        text
        for texts, keep in cut
        for text, is_kept in zip(texts, keep or [True] * len(texts), strict=True)
        if is_kept
    ]
    found = joined(list(zip(tables, masks, strict=True)), schema)
    assert_same(found, read_filters(kept, schema))
    assert found.shapes == sum(table.shapes for table in tables)
    assert [table.checksum() for table in tables] == sums  # the parts are as they were
    return found


def assert_same(found: PredicateTable, wanted: PredicateTable) -> None:
    """Compares all but `shapes`."""
    pairs = [(name, getattr(found, name), getattr(wanted, name)) for name in ARRAYS]
    for field in fields(Distances):
        given = getattr(found.distances, field.name), getattr(wanted.distances, field.name)
        pairs.append((field.name, *given))
    for name, left, right in pairs:
        assert left.dtype == right.dtype, name
        assert left.shape == right.shape, name
        assert left.tobytes() == right.tobytes(), name
    assert found.attributes == wanted.attributes
    assert found.strings.equals(wanted.strings)
    assert found.strings.type == wanted.strings.type
    assert tuple(found.patterns) == wanted.patterns
    assert tuple(found.residuals) == wanted.residuals
    rejected = [[(row, str(error)) for row, error in table.rejected] for table in (found, wanted)]
    assert rejected[0] == rejected[1]
    assert found.checksum() == wanted.checksum()

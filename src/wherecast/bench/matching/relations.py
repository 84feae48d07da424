"""Filters as relations, with which a database matches publications by joins.

The module covers only the filters of the benchmark's workloads: one conjunction per filter, ranges
of numbers, equalities and sets of strings, and `<>` of a number. All ranges are closed, so
constants are exact.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.language import PredicateTable
from wherecast.language.meaning.keys import RANGES, float_values
from wherecast.language.table.predicate_table import Kind

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Filters that name the same string attributes, one row per combination of strings.

    Attributes:
        keys: the string attributes, one column each.
        lows, highs: the attributes with a column `x_low`, `x_high`; a missing bound is infinite.
        rows: the table of `number` and these columns, sorted by the keys.
    """

    keys: tuple[str, ...]
    lows: tuple[str, ...]
    highs: tuple[str, ...]
    rows: pa.Table


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Predicates as rows; the most selective predicate of each filter is in a table apart.

    Attributes:
        first_ranges, other_ranges: `number`, `attribute`, `low`, `high`, `negated`.
        first_texts, other_texts: `number`, `attribute`, `text`.
        sizes: `number` and the count `others` of other predicates, if a filter has any.
        numeric, textual: the attributes that filters name.
    """

    first_ranges: pa.Table
    first_texts: pa.Table
    other_ranges: pa.Table
    other_texts: pa.Table
    sizes: pa.Table
    numeric: tuple[str, ...]
    textual: tuple[str, ...]


def boxes_of(table: PredicateTable) -> list[Boxes]:
    """The filters, grouped by the string attributes that they name."""
    owner = _owners(table)
    is_set = table.kind == Kind.SET
    assert (is_set | (table.kind == Kind.RANGE)).all(), "only ranges and sets have boxes"
    signature = np.zeros(len(table), np.int64)
    np.bitwise_or.at(signature, owner[is_set], 1 << table.attribute[is_set].astype(np.int64))
    return [
        _boxes(table, owner, np.flatnonzero(signature == bits), int(bits))
        for bits in np.unique(signature)
    ]


def _boxes(table: PredicateTable, owner: Ints, members: Ints, bits: int) -> Boxes:
    place_of = np.full(len(table), -1)
    place_of[members] = np.arange(len(members))
    keys: list[str] = []
    lows: list[str] = []
    highs: list[str] = []
    columns: dict[str, pa.Array] = {}
    rows = np.arange(len(members))  # per row of the result: the position of its filter
    for slot, attribute in enumerate(table.attributes):
        mine = np.flatnonzero((table.attribute == slot) & (place_of[owner] >= 0))
        if not len(mine):
            continue
        name, places = attribute.name, place_of[owner[mine]]
        if bits >> slot & 1:
            starts, ends = np.zeros((2, len(members)), np.int64)
            starts[places], ends[places] = table.low[mine], table.high[mine]
            again, codes = _runs(starts[rows], ends[rows])
            columns = {other: column.take(pa.array(again)) for other, column in columns.items()}
            rows = rows[again]
            columns[name] = table.strings.take(pa.array(table.set_keys[codes]))
            keys.append(name)
            continue
        least, most = RANGES[attribute.type]
        for names, suffix, none, bound in (
            (lows, "low", least, table.low), (highs, "high", most, table.high),
        ):  # fmt: skip
            ends = np.full(len(members), none)
            ends[places] = bound[mine]
            if (ends != none).any():
                values = float_values(ends) if attribute.type == "float" else ends
                columns[f"{name}_{suffix}"] = pa.array(values[rows])
                names.append(name)
    columns["number"] = pa.array(members[rows].astype(np.int32))
    found = pa.table(columns)
    if keys:
        found = found.sort_by([(key, "ascending") for key in keys])
    return Boxes(tuple(keys), tuple(lows), tuple(highs), found)


def lists_of(table: PredicateTable, sample: pa.RecordBatch) -> Lists:
    """The predicates as rows; a sample of publications shows which are selective."""
    owner = _owners(table)
    is_text = table.kind == Kind.SET
    rarest = np.lexsort((_shares(table, sample), owner))
    first = np.zeros(len(owner), bool)
    first[rarest[np.concatenate([[True], owner[rarest][1:] != owner[rarest][:-1]])]] = True
    others = np.diff(table.predicate_offsets) - 1
    more = np.flatnonzero(others)
    used = [table.attributes[slot] for slot in np.unique(table.attribute)]
    return Lists(
        _ranges(table, owner, np.flatnonzero(first & ~is_text)),
        _texts(table, owner, np.flatnonzero(first & is_text)),
        _ranges(table, owner, np.flatnonzero(~first & ~is_text)),
        _texts(table, owner, np.flatnonzero(~first & is_text)),
        pa.table({"number": more.astype(np.int32), "others": others[more]}),
        tuple(attribute.name for attribute in used if attribute.type != "string"),
        tuple(attribute.name for attribute in used if attribute.type == "string"),
    )


def _shares(table: PredicateTable, sample: pa.RecordBatch) -> Floats:
    """An estimate of how often each predicate is true."""
    shares = np.ones(len(table.kind))
    low, high, negated = _bounds(table, np.arange(len(shares)))
    for slot, attribute in enumerate(table.attributes):
        mine = np.flatnonzero(table.attribute == slot)
        values = sample.column(attribute.name).drop_null()
        if attribute.type == "string":
            shares[mine] = len(values) / max(1, pc.count_distinct(values).as_py())
            continue
        ordered = np.sort(values.to_numpy(zero_copy_only=False))
        inside = np.searchsorted(ordered, high[mine], "right")
        inside -= np.searchsorted(ordered, low[mine], "left")
        shares[mine] = np.where(negated[mine], len(values) - inside, inside)
    return shares


def _ranges(table: PredicateTable, owner: Ints, rows: Ints) -> pa.Table:
    low, high, negated = _bounds(table, rows)
    return pa.table(
        {
            "number": owner[rows].astype(np.int32),
            "attribute": _names(table, rows),
            "low": low,
            "high": high,
            "negated": negated,
        }
    )


def _bounds(table: PredicateTable, rows: Ints) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """The closed ranges of predicates, and whether each predicate excludes its range."""
    negated = table.kind[rows] == Kind.NOT_SET
    low, high = table.low[rows], table.high[rows]
    assert (high[negated] == low[negated] + 1).all(), "one excluded number has a range"
    low[negated] = high[negated] = table.set_keys[low[negated]]
    return float_values(low), float_values(high), negated


def _texts(table: PredicateTable, owner: Ints, rows: Ints) -> pa.Table:
    again, codes = _runs(table.low[rows], table.high[rows])
    rows = rows[again]
    return pa.table(
        {
            "number": owner[rows].astype(np.int32),
            "attribute": _names(table, rows),
            "text": table.strings.take(pa.array(table.set_keys[codes])),
        }
    )


def _names(table: PredicateTable, rows: Ints) -> pa.Array:
    names = pa.array([attribute.name for attribute in table.attributes], pa.string())
    return names.take(pa.array(table.attribute[rows]))


def _runs(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """For runs of numbers from starts to ends: the run of each number, and the numbers."""
    sizes = ends - starts
    run = np.repeat(np.arange(len(sizes)), sizes)
    return run, np.arange(len(run)) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)


def _owners(table: PredicateTable) -> Ints:
    """The filter of each predicate."""
    assert len(table.predicate_offsets) == len(table) + 1, "a filter has one conjunction"
    return np.repeat(np.arange(len(table)), np.diff(table.predicate_offsets))

"""Parts of an index: columns of filters, read or mapped from files, matched side by side as one.

Unlike an `Index`, a part never changes, so the number of a filter stays its place: further columns
of the filters can be taken by the numbers that a match gives.

Concurrency: any number of threads may match.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import values_of
from wherecast.language.meaning.derived import sources_of
from wherecast.language.table.predicate_table import Kind, PredicateTable
from wherecast.matching.columnar.packing.samples import Samples
from wherecast.matching.columnar.run_arrays import load_run, save_run
from wherecast.matching.columnar.runs import Run, matches_of, merged, ordered
from wherecast.matching.ids import Ids
from wherecast.matching.matches import Matches
from wherecast.model import Attribute, Schema

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class IndexPart:
    """Filters in a fixed order, some of them perhaps hidden.

    Attributes:
        schema: the schema that the filters were read with.
    """

    schema: Schema
    _run: Run

    @staticmethod
    def of(ids: pa.Array, table: PredicateTable, schema: Schema) -> "IndexPart":
        """The part of filters that were read; ids are distinct, int64 or large_string."""
        return IndexPart(schema, Run.of(Ids(ids), table))

    @staticmethod
    def load(path: Path) -> "IndexPart":
        """The part in a file, which is mapped: it must not be changed while the part is in use.

        Raises:
            SnapshotError: the file is missing, damaged, or of a newer format.
        """
        run, schema = load_run(path)
        return IndexPart(schema, run)

    def save(self, path: Path) -> str:
        """Writes the part to a file, whole or not at all; returns its content id."""
        assert self._run.hidden is None, "hidden filters have no place in a file"
        return save_run(self._run, self.schema, path)

    def __len__(self) -> int:
        """The number of filters, hidden ones included."""
        return len(self._run.ids)

    @property
    def ids(self) -> pa.Array:
        """The ids of all filters, int64 or large_string."""
        return self._run.ids.array

    @property
    def hidden(self) -> Ints:
        """The places of hidden filters."""
        hidden = self._run.hidden
        return np.zeros(0, np.int64) if hidden is None else np.flatnonzero(hidden)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes of publications that the filters name, hidden filters left out."""
        table, hidden = self._run.snapshot.table, self._run.hidden
        if hidden is None:
            return sources_of(table.attributes)
        used = _used(table, ~hidden)
        return sources_of(a for number, a in enumerate(table.attributes) if used[number])

    @property
    def never(self) -> int:
        """The number of filters that can never match, hidden filters left out."""
        never = np.diff(self._run.snapshot.table.conjunction_offsets) == 0
        hidden = self._run.hidden
        return int(np.count_nonzero(never if hidden is None else never & ~hidden))

    def find(self, ids: pa.Array) -> Ints:
        """The places of the filters of some ids; hidden filters and unknown ids are left out."""
        if self.ids.type != ids.type:
            return np.zeros(0, np.int64)
        found = np.flatnonzero(values_of(pc.is_in(self.ids, value_set=ids)))
        hidden = self._run.hidden
        return found if hidden is None else found[~hidden[found]]

    def naming(self, attribute: str) -> Ints:
        """The places of the filters that name an attribute and are not hidden."""
        table = self._run.snapshot.table
        rows = np.flatnonzero(_naming(table, attribute))
        conjunctions = np.searchsorted(table.predicate_offsets, rows, side="right") - 1
        filters = np.searchsorted(table.conjunction_offsets, conjunctions, side="right") - 1
        return np.setdiff1d(filters, self.hidden)

    def without(self, places: Ints) -> "IndexPart":
        """The same part with some more filters hidden."""
        return replace(self, _run=self._run.without(places))


def _used(table: PredicateTable, filters: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which attributes some of the filters name."""
    conjunctions = np.repeat(filters, np.diff(table.conjunction_offsets))
    rows = np.repeat(conjunctions, np.diff(table.predicate_offsets))
    used = np.zeros(len(table.attributes), np.bool_)
    used[table.attribute[rows]] = True
    distances = table.low[rows & (table.kind == Kind.DISTANCE)]
    used[table.distances.longitudes[distances]] = True
    if not used.all():  # texts are read for this
        pairs = np.unique(table.low[rows & (table.kind == Kind.RESIDUAL)]).tolist()
        names = {table.residuals[pair].right.name for pair in pairs}
        used |= np.array([a.name in names for a in table.attributes], np.bool_)
    return used


def _naming(table: PredicateTable, attribute: str) -> npt.NDArray[np.bool_]:
    """Which predicates name an attribute: their own, or one that they compute with."""
    numbers = [
        number
        for number, one in enumerate(table.attributes)
        if any(source.name == attribute for source in sources_of([one]))
    ]
    compared = [
        n for n, c in enumerate(table.residuals) if attribute in (c.left.name, c.right.name)
    ]
    away = table.distances
    measured = np.isin(away.latitudes, numbers) | np.isin(away.longitudes, numbers)
    named = np.isin(table.attribute, numbers)
    of_distance, of_two = table.kind == Kind.DISTANCE, table.kind == Kind.RESIDUAL
    named[of_distance] = measured[table.low[of_distance]]
    named[of_two] = np.isin(table.low[of_two], compared)
    return named


def join_parts(parts: Sequence[IndexPart]) -> tuple[IndexPart, Ints]:
    """One part with the filters of several that are not hidden, in the order of the ids.

    Returns:
        The part, and where each of its filters stood in the parts taken one after the other.
    """
    schema = parts[0].schema
    one = merged([part._run for part in parts], schema)
    shown = [np.setdiff1d(np.arange(len(part)), part.hidden) for part in parts]
    starts = np.cumsum([0, *(len(part) for part in parts)])
    places = np.concatenate([start + own for start, own in zip(starts, shown, strict=False)])
    order = one.ids.order()
    if order is None:
        return IndexPart(schema, one), places
    return IndexPart(schema, ordered(one, schema)), places[order]


class IndexParts:
    """Parts matched as one; the number of a filter is its place in all parts, one after the other.

    Attributes:
        parts: the parts.
        costs: counts of what matching has cost so far; concurrent matches may lose a count.
    """

    def __init__(self, parts: Sequence[IndexPart]) -> None:
        self.parts = tuple(parts)
        self._runs = tuple(part._run for part in parts)
        self._samples = Samples()
        self.costs: Counter[str] = Counter()

    def __len__(self) -> int:
        """The number of filters that are not hidden."""
        return sum(len(run) for run in self._runs)

    def match(self, batch: pa.RecordBatch) -> Matches:
        """The filters that are true on each publication of a valid batch."""
        samples = self._samples.note(batch)
        found = [run.match(batch, samples) for run in self._runs]
        self.costs["publications"] += batch.num_rows
        self.costs["blocks read"] += sum(matches.inner + matches.leaf for matches in found)
        self.costs["candidates checked"] += sum(matches.checked for matches in found)
        return matches_of(self._runs, found, batch.num_rows)

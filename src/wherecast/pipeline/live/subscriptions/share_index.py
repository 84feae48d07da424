"""The live index of a share: the filters of some of the subscriptions, stream by stream.

The ids in the indexes are the versions of the subscriptions. Which kind of index a share uses is
decided by a factory, and makes no difference to its matches.

Concurrency: one thread at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.matching.engine import Engine, RowMatching
from wherecast.matching.ids import Ids
from wherecast.matching.kinds import make_engine, need_kind
from wherecast.matching.matches import Matches
from wherecast.model import FilterError, Schema
from wherecast.pipeline.live.subscriptions.roster import NewFilter

Ints = npt.NDArray[np.int64]
_ONE_BY_ONE_MAX = 16  # filters; more are read as a column


@dataclass(frozen=True, slots=True)
class IndexFactory:
    """Makes the indexes of shares; a subclass may make others of its kind.

    Attributes:
        kind: of the indexes, as `wherecast.Index` names it.
    """

    kind: str = "columnar"

    def __post_init__(self) -> None:
        need_kind(self.kind)

    def new(self, schema: Schema) -> Engine:
        """An empty index for the filters of a stream."""
        return make_engine(self.kind, schema)


class ShareIndex:
    """Filters of a share by stream.

    Attributes:
        indexes: by stream.
        unreadable: number of filters that were accepted once but cannot be read now.
    """

    def __init__(self, factory: IndexFactory, indexes: dict[str, Engine] | None = None) -> None:
        self.indexes = {} if indexes is None else indexes
        self.unreadable = 0
        self._row_matching: dict[str, RowMatching | None] = {}  # of the indexes by stream
        self._factory = factory

    def __len__(self) -> int:
        """Number of filters held, those of ended versions included until they are removed."""
        return sum(len(index) for index in self.indexes.values())

    @property
    def candidates(self) -> int:
        """Number of filters that were tried one by one so far."""
        return sum(index.candidates for index in self.indexes.values())

    @property
    def nbytes(self) -> int:
        """Bytes of the indexes."""
        return sum(index.nbytes for index in self.indexes.values())

    def add(self, stream: str, schema: Schema, filters: Sequence[NewFilter]) -> None:
        """Adds filters of a stream. A filter that cannot be read matches nothing and is counted."""
        if stream not in self.indexes:
            self.indexes[stream] = self._factory.new(schema)
        index = self.indexes[stream]
        if len(filters) <= _ONE_BY_ONE_MAX:
            for new in filters:
                try:
                    index.add(new.version, new.text)
                except FilterError:
                    self.unreadable += 1
            return
        read = index.read(pa.array([new.text for new in filters], pa.large_string()))
        good = np.ones(len(filters), np.bool_)
        good[[row for row, _ in read.rejected]] = False
        self.unreadable += len(read.rejected)
        ids = Ids.of([new.version for new in filters])
        index.add_all(ids, read, None if good.all() else good)

    def remove(self, stream: str, versions: Sequence[int]) -> None:
        """Removes those of some filters that this share holds."""
        index = self.indexes.get(stream)
        if index is not None:
            index.remove_all([version for version in versions if version in index])

    def match(self, stream: str, batch: pa.RecordBatch) -> tuple[Ints, Ints]:
        """The filters that are true on each row of a valid batch.

        Returns:
            The number of matches of each row, and the versions of the filters, row after row;
            both int64.
        """
        index = self.indexes.get(stream)
        if index is None:
            return np.zeros(batch.num_rows, np.int64), np.zeros(0, np.int64)
        matches = index.match(batch)
        return matches.counts, _versions(matches)

    def match_one(self, stream: str, row: Mapping[str, Any], now: int) -> Ints | None:
        """The versions of the filters that are true on a publication, int64, in no order.

        None where the publication is bad, or only `match` can tell.

        Args:
            stream: of the publication.
            row: its attributes, as they came.
            now: the value of `now()`, microseconds since 1970.
        """
        index = self.indexes.get(stream)
        if index is None:
            return np.zeros(0, np.int64)
        if stream not in self._row_matching:  # the check of a protocol costs more than a match
            self._row_matching[stream] = index if isinstance(index, RowMatching) else None
        matching = self._row_matching[stream]
        found = None if matching is None else matching.match_one(row, now)
        return None if found is None else found.to_array()


def _versions(matches: Matches) -> Ints:
    """The ids of all matches, in their order."""
    if not len(matches.indices):
        return np.zeros(0, np.int64)
    column = getattr(matches.ids, "array", None)
    if column is not None:
        return values_of(column.take(array_of(matches.indices)))
    ids = matches.ids
    if len(matches.indices) < len(ids):  # the trees and the scan have a list
        return np.array([ids[place] for place in matches.indices.tolist()], np.int64)
    return np.array(ids, np.int64)[matches.indices]

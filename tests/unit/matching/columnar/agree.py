"""The columnar index beside the reference index, which evaluates filter by filter."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast import Index, Schema
from wherecast.matching.matches import Matches
from wherecast.workloads import Workload


def columnar(schema: Schema, filters: Sequence[str]) -> Index:
    """A columnar index of filters by their numbers."""
    index = Index(schema, kind="columnar")
    index.add_all(enumerate(filters))
    return index


def workload_index(workload: Workload, count: int) -> Index:
    """A columnar index of the first filters of a workload."""
    texts = pa.Table.from_batches(workload.filters(count)).column("filter")
    return columnar(workload.schema, texts.to_pylist())


def publications_of(workload: Workload, count: int) -> pa.RecordBatch:
    """The first publications of a workload in one batch."""
    [batch] = pa.Table.from_batches(workload.publications(count)).combine_chunks().to_batches()
    return batch


def rows(matches: Matches) -> list[npt.NDArray[np.int64]]:
    """The sorted numbers that each publication matches."""
    ids = np.array(list(matches.ids), np.int64)
    found = ids[matches.indices]
    return [np.sort(part) for part in np.split(found, matches.offsets[1:-1])]


def assert_same(schema: Schema, filters: Sequence[str], publications: Any) -> int:
    """Fails where the columnar and the reference index differ; returns the number of matches."""
    reference = Index(schema, kind="scan")
    reference.add_all(enumerate(filters))
    wanted = reference.match(publications).to_pylist()
    found = columnar(schema, filters).match(publications).to_pylist()
    assert len(found) == len(wanted)
    for row, (got, expected) in enumerate(zip(found, wanted, strict=True)):
        missed = [filters[int(number)] for number in set(expected) - set(got)]
        extra = [filters[int(number)] for number in set(got) - set(expected)]
        assert (missed, extra) == ([], []), f"publication {row}"
        assert got == expected, f"publication {row}: a filter more than once"
    return sum(map(len, wanted))

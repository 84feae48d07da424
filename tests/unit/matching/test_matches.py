from itertools import chain

import numpy as np
import pyarrow as pa
import pytest

from wherecast.matching import Id, Matches


def matches(rows: list[list[int]], ids: list[Id]) -> Matches:
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return Matches(offsets, np.array([*chain(*rows)], np.int32), ids)


def test_rows_are_cut_by_offsets_and_sorted() -> None:
    found = matches([[2, 0], [], [1]], ["c", "b", "a"])
    assert len(found) == 3
    assert found.counts.tolist() == [2, 0, 1]
    assert found.to_pylist() == [["a", "c"], [], ["b"]]


@pytest.mark.parametrize(("ids", "kind"), [(["x", "y"], pa.string()), ([7, 8], pa.int64())])
def test_arrow_holds_the_same_lists(ids: list[Id], kind: pa.DataType) -> None:
    found = matches([[0, 1], [], [1]], ids).to_arrow()
    assert found.type == pa.large_list(kind)
    assert found.to_pylist() == [[ids[0], ids[1]], [], [ids[1]]]
    found.validate(full=True)


def test_nothing_at_all() -> None:
    empty = matches([], [])
    assert len(empty) == 0
    assert empty.to_pylist() == []
    assert empty.to_arrow().to_pylist() == []
    assert matches([[], []], []).to_arrow().to_pylist() == [[], []]

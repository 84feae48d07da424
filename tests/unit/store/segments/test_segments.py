from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.store.segment_strategies import Plain, names, plain_of, plains, segment_of
from wherecast.store.records import NO_NOTIFICATIONS, SEGMENT
from wherecast.store.segments import segments

EACH = 10
successive = st.integers(1, 9).flatmap(
    lambda count: st.tuples(*(plains(at * EACH, (at + 1) * EACH) for at in range(count)))
)


def joined_slowly(parts: tuple[Plain, ...]) -> Plain:
    joined: Plain = {}
    for part in parts:
        for subscriber, matches in part.items():
            joined.setdefault(subscriber, {}).update(matches)
    return joined


class TestJoin:
    @given(successive)
    def test_it_equals_the_obvious_one(self, parts: tuple[Plain, ...]) -> None:
        joined = segments.join([segment_of(part) for part in parts])
        joined.validate(full=True)
        assert joined.equals(segment_of(joined_slowly(parts)))

    @given(successive, st.integers(0, 3))
    def test_slices_are_joined_too(self, parts: tuple[Plain, ...], skipped: int) -> None:
        sliced = [segment_of(part).slice(skipped) for part in parts]
        joined = segments.join(sliced)
        assert plain_of(joined) == joined_slowly(tuple(map(plain_of, sliced)))

    @given(successive, st.integers(0, 9))
    def test_the_way_it_came_about_does_not_matter(self, parts: tuple[Plain, ...], at: int) -> None:
        all_parts = [segment_of(part) for part in parts]
        if 0 < at < len(all_parts):
            twice = segments.join([segments.join(all_parts[:at]), segments.join(all_parts[at:])])
            assert twice.equals(segments.join(all_parts))


class TestFind:
    @given(plains(0, 20), names, st.integers(-1, 21), st.integers(1, 4), st.integers(0, 2))
    def test_it_equals_the_obvious_one(
        self, plain: Plain, name: str, start: int, limit: int, skipped: int
    ) -> None:
        segment = segment_of(plain).slice(skipped)
        left = {at: ids for at, ids in plain_of(segment).get(name, {}).items() if at >= start}
        found = segments.find(segment, name, start, limit)
        if found is None:
            assert not left
        else:
            assert found.offsets.dtype == np.int64
            told = zip(found.offsets.tolist(), found.subscription_ids, strict=True)
            assert list(told) == sorted(left.items())[:limit]

    @given(
        plains(0, 20),
        st.dictionaries(names, st.integers(-1, 21)),
        st.integers(-1, 21),
        st.integers(0, 2),
    )
    def test_they_are_counted_for_all_at_once(
        self, plain: Plain, starts: dict[str, int], end: int, skipped: int
    ) -> None:
        segment = segment_of(plain).slice(skipped)
        expected = {
            name: sum(starts[name] <= at < end for at in own)
            for name, own in plain_of(segment).items()
            if name in starts
        }
        assert segments.counts(segment, starts, end) == expected

    def test_a_few_are_counted_in_a_large_one(self) -> None:
        segment = segment_of({f"s{number:03}": {1: ["x"], number: ["x"]} for number in range(500)})
        starts = {"s000": 1, "s007": 2, "s499": 500, "nobody": 0}
        assert segments.counts(segment, starts, 1_000) == {"s000": 1, "s007": 1, "s499": 0}

    @given(plains(0, 20), st.sets(names), st.integers(-1, 21), st.integers(0, 2))
    def test_several_subscribers_are_found_at_once(
        self, plain: Plain, wanted: set[str], start: int, skipped: int
    ) -> None:
        segment = segment_of(plain).slice(skipped)
        left = {
            name: [(at, tuple(ids)) for at, ids in sorted(own.items()) if at >= start]
            for name, own in plain_of(segment).items()
            if name in wanted
        }
        expected = {name: own for name, own in left.items() if own}
        assert segments.found_by_name(segment, wanted, start) == expected

    def test_nothing_is_found_in_an_empty_one(self) -> None:
        assert segments.find(NO_NOTIFICATIONS, "a", 0, 1) is None
        assert segments.counts(NO_NOTIFICATIONS, {"a": 0}, 9) == {}

    def test_it_reads_a_mapped_file(self, tmp_path: object) -> None:
        path = f"{tmp_path}/segment.arrow"
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, SEGMENT) as writer:
            writer.write_batch(segment_of({"a": {1: ["x"]}, "b": {1: ["x"], 2: ["w", "x"]}}))
        with pa.memory_map(path) as source:
            mapped = pa.ipc.open_file(source).get_batch(0)
            found = segments.find(mapped, "b", 2, 9)
        assert found is not None
        assert found.subscription_ids == [["w", "x"]]


@given(plains(5, 25), st.integers(0, 100))
def test_publications_get_other_numbers(plain: Plain, by: int) -> None:
    moved = {name: {at * 3 + by: ids for at, ids in of.items()} for name, of in plain.items()}
    assert segments.renumbered(segment_of(plain), lambda at: at * 3 + by).equals(segment_of(moved))


@contextmanager
def checked_as(is_many: bool) -> Iterator[None]:
    """Has segments checked as a whole, or row by row, whatever their size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_FEW_BYTES", -1 if is_many else 1 << 30)
        yield


class TestProblems:
    @given(plains(5, 25), st.booleans())
    def test_a_good_one_has_none(self, plain: Plain, is_many: bool) -> None:
        with checked_as(is_many):
            assert segments.problem_of(segment_of(plain), 5, 25) is None

    @pytest.mark.parametrize(
        ("row", "problem"),
        [
            ({"offsets": [None]}, "nulls"),
            ({"matched": [None]}, "nulls"),
            ({"matched": [[None]]}, "nulls"),
            ({"subscriber": None}, "nulls"),
            ({"offsets": [10]}, "out of its range"),
            ({"offsets": [-1]}, "out of its range"),
            ({"offsets": [2, 2], "matched": [[0], [0]]}, "not sorted"),
            ({"offsets": [3, 2], "matched": [[0], [0]]}, "not sorted"),
            ({"offsets": [1, 2]}, "differ in length"),
            ({"matched": [[1]]}, "does not have"),
            ({"matched": [[-1]]}, "does not have"),
            ({"subscriber": "a"}, "not distinct"),
        ],
    )
    def test_bad_ones_are_told(self, row: dict[str, object], problem: str) -> None:
        good = {"subscription_ids": ["x"], "offsets": [1], "matched": [[0]]}
        rows = [{"subscriber": "a", **good}, {"subscriber": "b", **good, **row}]
        for is_many in (False, True):
            with checked_as(is_many):
                told = segments.problem_of(pa.RecordBatch.from_pylist(rows, SEGMENT), 0, 10)
            assert told is not None
            assert problem in told

    def test_other_columns_are_told(self) -> None:
        other = pa.RecordBatch.from_pydict({"subscriber": ["a"]})
        assert "columns" in str(segments.problem_of(other, 0, 10))

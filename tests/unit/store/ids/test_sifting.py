from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.stores import Body, publications
from wherecast.store.ids.publication_ids import hash_ids
from wherecast.store.ids.recent_ids import IdWindow, RecentIds
from wherecast.store.ids.sifting import NO_UNSCOPED_IDS, Known, Sifted, UnscopedIds, sift


class Plain:
    """A past in a list; hashes are given by the test."""

    identity = "me"

    def __init__(self, window: IdWindow) -> None:
        self.recent = RecentIds(window)
        self.unscoped = NO_UNSCOPED_IDS
        self._known: list[Known] = []

    @property
    def end(self) -> int:
        return len(self._known)

    def known(self, places: Sequence[int]) -> Mapping[int, Known]:
        return {place: self._known[place] for place in places}

    def place_of(self, partition: int, offset: int) -> int | None:
        return offset if partition == 0 and offset < self.end else None

    def append(
        self, bodies: Sequence[Body], hashes: Sequence[int], stream: str = "default", at: int = 0
    ) -> Sifted:
        given = publications(bodies, stream)
        array = np.array(hashes, np.uint64)
        sifted = sift(given, array, at, self, self.unscoped)
        places = np.arange(self.end, self.end + len(sifted.rows))
        for row in sifted.rows.tolist():
            key = stream, bodies[row].publisher or "", bodies[row].id
            self._known.append(Known(*key, int(given.digests[row]), at))
        if len(places):
            self.recent = self.recent.adding(array[sifted.rows], places, at)
        return sifted


def test_ids_with_one_hash_are_told_apart() -> None:
    past = Plain(IdWindow())
    first = past.append([Body(1, "a"), Body(2, "b"), Body(1, "a")], [7, 7, 7])
    assert first.rows.tolist() == [0, 1]
    assert first.duplicates.tolist() == [False, False, True]
    second = past.append([Body(3, "c"), Body(2, "b"), Body(2, "a")], [7, 7, 7])
    assert second.rows.tolist() == [0]
    assert second.duplicates.tolist() == [False, True, False]
    assert second.conflicts.tolist() == [False, False, True]


def test_keys_with_one_hash_are_told_apart() -> None:
    past = Plain(IdWindow())
    bodies = [Body(1, "a"), Body(2, "a", publisher="p"), Body(3, "a", publisher="q")]
    assert past.append(bodies, [7, 7, 7]).rows.tolist() == [0, 1, 2]
    assert past.append(bodies, [7, 7, 7], stream="other").rows.tolist() == [0, 1, 2]
    again = past.append([Body(2, "a", publisher="p"), Body(9, "a", publisher="q")], [7, 7])
    assert again.duplicates.tolist() == [True, False]
    assert again.conflicts.tolist() == [False, True]


def test_a_generated_id_is_of_its_stream_and_publisher() -> None:
    past = Plain(IdWindow())
    past.append([Body(1, publisher="p")], [0])
    same, other = Body(1, "me-0-0", publisher="p"), Body(1, "me-0-0", publisher="q")
    assert past.append([same, other], [7, 8]).rows.tolist() == [1]
    assert past.append([same], [9], stream="other").rows.tolist() == [0]
    assert past.append([Body(1, "me-0-99")], [9]).conflicts.tolist() == [True]


_ROW = st.tuples(
    st.integers(0, 2), st.sampled_from([None, "p"]), st.sampled_from(["a", "b", "c", None])
)
_CALL = st.tuples(st.sampled_from(["s", "t"]), st.lists(_ROW))


@given(st.lists(_CALL, max_size=8), st.integers(1, 8))
def test_as_a_dictionary_would_say(
    calls: list[tuple[str, list[tuple[int, str | None, str | None]]]], size: int
) -> None:
    past = Plain(IdWindow(publications=size))
    accepted: list[tuple[int, tuple[str, str | None, str | None]]] = []
    for stream, call in calls:
        bodies = [Body(number, id, publisher=publisher) for number, publisher, id in call]
        hashes = [0 if id is None else 5 + (id > "b") for _, _, id in call]
        before = len(accepted)
        sifted = past.append(bodies, hashes, stream)
        for row, (number, publisher, id) in enumerate(call):
            key = stream, publisher, id
            # what counts is the window where the call begins, and all of the call itself
            seen = [n for n, other in accepted[max(0, before - size + 1) :] if other == key]
            if id is None or not seen:
                accepted.append((number, key))
                assert row in sifted.rows
            else:
                assert sifted.duplicates[row] == (seen[-1] == number)
                assert sifted.conflicts[row] == (seen[-1] != number)


def test_an_id_of_layout_1_is_taken_for_every_stream_and_publisher() -> None:
    past = Plain(IdWindow(age_us=10, publications=4))
    first = [Body(1, "a", publisher="p"), Body(2, publisher="p")]
    ids = publications(first, "default").headers.column("id")
    past.append(first, hash_ids(ids).tolist())
    past.unscoped = UnscopedIds(end=2, at=0)
    for stream, publisher in (("default", "p"), ("default", None), ("other", "q")):
        given = [Body(1, "a", publisher=publisher), Body(9, "a", publisher=publisher)]
        found = past.append([*given, Body(2, "me-0-1", publisher=publisher)], [7, 8, 9], stream)
        assert found.duplicates.tolist() == [True, False, True]
        assert found.conflicts.tolist() == [False, True, False]
    assert past.append([Body(1, "a")], [7], at=10).rows.tolist() == [0]  # the window has passed


def test_a_new_id_is_not_taken_by_the_hash_of_an_old_one() -> None:
    past = Plain(IdWindow())
    past.append([Body(1, "a")], [7])
    past.unscoped = UnscopedIds(end=1, at=0)
    assert past.append([Body(1, "b"), Body(2, "a")], [7, 7]).rows.tolist() == [0, 1]

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.stores import Body, publications
from wherecast.store.ids.recent_ids import IdWindow, RecentIds
from wherecast.store.ids.sifting import Known, Sifted, sift


class Plain:
    """A past in a list; hashes are given by the test."""

    identity = "me"

    def __init__(self, window: IdWindow) -> None:
        self.recent = RecentIds(window)
        self._known: list[Known] = []

    @property
    def end(self) -> int:
        return len(self._known)

    def known(self, places: Sequence[int]) -> Mapping[int, Known]:
        return {place: self._known[place] for place in places}

    def place_of(self, partition: int, offset: int) -> int | None:
        return offset if partition == 0 and offset < self.end else None

    def append(self, bodies: Sequence[Body], hashes: Sequence[int], at: int = 0) -> Sifted:
        given = publications(bodies)
        array = np.array(hashes, np.uint64)
        sifted = sift(given, array, at, self)
        places = np.arange(self.end, self.end + len(sifted.rows))
        for row in sifted.rows.tolist():
            self._known.append(Known(bodies[row].id, int(given.digests[row]), at))
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


_CALL = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["a", "b", "c", "d", None])))


@given(st.lists(_CALL, max_size=8), st.integers(1, 8))
def test_as_a_dictionary_would_say(calls: list[list[tuple[int, str | None]]], size: int) -> None:
    past = Plain(IdWindow(publications=size))
    accepted: list[tuple[int, str | None]] = []
    for call in calls:
        bodies = [Body(number, id) for number, id in call]
        hashes = [0 if id is None else 5 + (id > "b") for _, id in call]
        before = len(accepted)
        sifted = past.append(bodies, hashes)
        for row, (number, id) in enumerate(call):
            # what counts is the window where the call begins, and all of the call itself
            seen = [n for n, other in accepted[max(0, before - size + 1) :] if other == id]
            if id is None or not seen:
                accepted.append((number, id))
                assert row in sifted.rows
            else:
                assert sifted.duplicates[row] == (seen[-1] == number)
                assert sifted.conflicts[row] == (seen[-1] != number)

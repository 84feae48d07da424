"""Which publications are new: those whose id came before neither in the log nor in the call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from wherecast.arrays.vectors import values_of
from wherecast.store.ids.publication_ids import Hashes, parse_generated
from wherecast.store.ids.recent_ids import RecentIds
from wherecast.store.records import Publications

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Known:
    """What a log knows of a publication that it has.

    Attributes:
        id: as it was given; None where the log gave it.
        digest: of its body.
        accepted_at: when it was appended.
        is_trimmed: whether its id is gone, so that the hash of it must do.
    """

    id: str | None
    digest: int
    accepted_at: int
    is_trimmed: bool = False


class Past(Protocol):
    """What a log has; a place is a number among all publications, in the order accepted.

    Attributes:
        identity: of the log.
        recent: the ids that came lately.
        end: the place that the next publication gets.
    """

    @property
    def identity(self) -> str:
        """Of the log."""
        ...

    @property
    def recent(self) -> RecentIds:
        """The ids that came lately."""
        ...

    @property
    def end(self) -> int:
        """The place that the next publication gets."""
        ...

    def known(self, places: Sequence[int]) -> Mapping[int, Known]:
        """What is known of publications, by place; without those that are damaged."""
        ...

    def place_of(self, partition: int, offset: int) -> int | None:
        """The place of an offset, -1 where it is gone; None where it was not given out yet."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Sifted:
    """The verdict on each of n publications.

    Attributes:
        rows: those that are new; int32, ascending.
        duplicates: those whose id came before with the same body; bool, shape (n,).
        conflicts: those whose id came before with another body; bool, shape (n,).
    """

    rows: npt.NDArray[np.int32]
    duplicates: Flags
    conflicts: Flags


def sift(publications: Publications, hashes: Hashes, at: int, past: Past) -> Sifted:
    """Tells new publications from those whose id came before.

    Args:
        publications: what is to be appended.
        hashes: of their ids, as `hash_ids` gives them.
        at: when they came.
        past: what the log has.
    """
    verdicts = _Verdicts(publications, at, past)
    if hashes.any():
        verdicts.judge_generated()
        verdicts.judge_recent(hashes)
        verdicts.judge_among_themselves(hashes)
    rows = np.flatnonzero(~(verdicts.duplicates | verdicts.conflicts)).astype(np.int32)
    return Sifted(rows, verdicts.duplicates, verdicts.conflicts)


class _Verdicts:
    """The publications of a call, and what was found about them so far."""

    def __init__(self, publications: Publications, at: int, past: Past) -> None:
        count = publications.envelopes.num_rows
        self.duplicates = np.zeros(count, np.bool_)
        self.conflicts = np.zeros(count, np.bool_)
        self._ids = publications.envelopes.column("id")
        self._digests = publications.digests
        self._at = at
        self._past = past

    def judge_generated(self) -> None:
        """Those with an id that only this log gives: they are compared with its publication."""
        start = f"{self._past.identity}-"
        texts = self._ids.buffers()[2]
        if texts is None or start.encode() not in texts.to_pybytes():
            return  # nearly always
        own = pc.fill_null(pc.starts_with(self._ids, start), False)
        for row in np.flatnonzero(values_of(own)).tolist():
            named = parse_generated(self._ids[row].as_py(), self._past.identity)
            if named is None:
                continue
            place = self._past.place_of(*named)
            if place is None:  # it will be the id of another publication
                self.conflicts[row] = True
                continue
            known = self._past.known([place]).get(place)
            if known is not None and known.id is None and not known.is_trimmed:
                self._compare(row, place, known)

    def judge_recent(self, hashes: Hashes) -> None:
        """Those whose id came lately."""
        rows, places = self._past.recent.find(hashes)
        known = self._past.known(places.tolist()) if len(places) else {}
        for row, place in zip(rows.tolist(), places.tolist(), strict=True):
            one = known.get(place)
            if one is not None and (one.is_trimmed or one.id == self._ids[row].as_py()):
                self._compare(row, place, one)

    def judge_among_themselves(self, hashes: Hashes) -> None:
        """Those whose id came earlier in the same call."""
        rows = np.flatnonzero((hashes != 0) & ~(self.duplicates | self.conflicts))
        if len(rows) < 2:
            return
        _, group, counts = np.unique(hashes[rows], return_inverse=True, return_counts=True)
        firsts: dict[str, int] = {}
        for row in rows[counts[group] > 1].tolist():
            first = firsts.setdefault(self._ids[row].as_py(), row)
            if first != row:
                self._judge(row, int(self._digests[first]))

    def _compare(self, row: int, place: int, known: Known) -> None:
        past = self._past
        if past.recent.window.has(known.accepted_at, place, self._at, past.end):
            self._judge(row, known.digest)

    def _judge(self, row: int, digest: int) -> None:
        is_same = int(self._digests[row]) == digest
        (self.duplicates if is_same else self.conflicts)[row] = True

"""The subscriptions that a process matches against: one roster, and an index for each share.

Concurrency: one thread at a time.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.engine import Savable
from wherecast.pipeline.live.subscriptions.roster import NewFilter, Roster
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory, ShareIndex
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry

Ints = npt.NDArray[np.int64]
DEFAULT_INDEX = IndexFactory()


class LiveSubscriptions:
    """A roster with the shares that hold the filters of its versions, each filter in one of them.

    A version is dealt to a share by the version of its change, so that every process deals alike.

    Args:
        factory: makes the indexes.
        shares: how many shares there are.

    Attributes:
        factory: makes the indexes.
        roster: who is subscribed, in which version, over which span.
        shares: the filters.
        index_bytes: bytes of the indexes when `measure` was called last.
    """

    def __init__(self, factory: IndexFactory = DEFAULT_INDEX, shares: int = 1) -> None:
        self.factory = factory
        self._count = shares
        self.roster = Roster()
        self.shares: tuple[ShareIndex, ...] = ()
        self.index_bytes = 0
        self._unknown = 0
        self._begin()

    def _begin(self) -> None:
        self.shares = tuple(ShareIndex(self.factory) for _ in range(self._count))
        self._unknown = 0

    @staticmethod
    def restored(
        roster: Roster, shares: Sequence[ShareIndex], factory: IndexFactory
    ) -> "LiveSubscriptions":
        """A roster with its shares, as a snapshot holds them."""
        made = LiveSubscriptions(factory, len(shares))
        made.roster, made.shares = roster, tuple(shares)
        return made

    def __len__(self) -> int:
        """Number of filters held, those of ended versions included until they are reclaimed."""
        return sum(len(share) for share in self.shares)

    @property
    def unreadable(self) -> int:
        """Number of filters that were accepted once but cannot be read now."""
        return self._unknown + sum(share.unreadable for share in self.shares)

    @property
    def candidates(self) -> int:
        """Number of filters that were tried one by one so far."""
        return sum(share.candidates for share in self.shares)

    @property
    def is_savable(self) -> bool:
        """Whether all indexes can be written to files."""
        return all(
            isinstance(index, Savable) for share in self.shares for index in share.indexes.values()
        )

    def measure(self) -> None:
        """Sets `index_bytes`."""
        self.index_bytes = sum(share.nbytes for share in self.shares)

    def advance(
        self, entries: Iterable[ChangeEntry], version: int, start: Position | None = None
    ) -> None:
        """Takes in the changes up to a version; damaged ones are passed over.

        A change acts from the later of two places on: where the log lets it act, and where the
        first batch begins that knows it. Where publications and changes have one order, the first
        place is never before the second one for a publication that is still to be matched.

        Args:
            entries: the changes that the roster does not know yet, in order.
            version: the changes before it are known afterwards.
            start: where the batch begins that is to know the changes. It becomes the roster's
                floor: publications before it will not be matched any more. None: every publication
                since the roster's floor may still be matched.

        Raises:
            StoreError: changes are missing.
        """
        if start is not None:
            self.roster.raise_floor(start)
        for entry in entries:
            step = self.roster.take(entry, start)
            if step.is_anew:
                self._begin()
            for stream, filters in step.added.items():
                self._add(stream, filters)
            if self.roster.is_crowded:
                self.collect(self.roster.floor)
        self.roster.need(version)

    def match_one(
        self, stream: str, row: Mapping[str, Any], place: tuple[int, int], now: int
    ) -> Ints | None:
        """The versions that act on a publication and are true on it, int64, in no order.

        None where the publication is bad, or only `match_share` can tell.

        Args:
            stream: of the publication.
            row: its attributes, as they came.
            place: its partition and its offset.
            now: the value of `now()`, microseconds since 1970.
        """
        found: list[Ints] = []
        for share in self.shares:
            if stream not in share.indexes:
                continue
            own = share.match_one(stream, row, now)
            if own is None:
                return None
            found.append(own)
        if not found:  # nobody told whether the publication is good
            return None
        versions = found[0] if len(found) == 1 else np.concatenate(found)
        partition, offset = place
        acting = self.roster.acting(partition, np.full(len(versions), offset), versions)
        return versions if acting is None else versions[acting]

    def collect(self, position: Position) -> None:
        """Drops the versions that act on nothing at a position and beyond."""
        for stream, versions in self.roster.reclaim(position).items():
            for share in self.shares:
                share.remove(stream, versions)

    def _add(self, stream: str, filters: list[NewFilter]) -> None:
        schema = self.roster.schemas.get(stream)
        if schema is None:  # the definition of the stream was passed over
            self._unknown += len(filters)
            return
        if self._count == 1:
            self.shares[0].add(stream, schema, filters)
            return
        dealt: list[list[NewFilter]] = [[] for _ in self.shares]
        for new in filters:
            dealt[new.version % self._count].append(new)
        for share, own in zip(self.shares, dealt, strict=True):
            if own:
                share.add(stream, schema, own)

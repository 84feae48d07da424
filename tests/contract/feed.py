"""Batches for contract tests, and what they must lead to.

Which subscriptions a publication matches is a plain function of where it is, so notifications can
be made again at any time, and the right queue of a subscriber is told by counting. Sequences are
computed here from their definition, without the code of the store.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.unit.store.segment_strategies import Plain, segment_of
from wherecast.store.contracts import Batches, Mailboxes
from wherecast.store.position import Position
from wherecast.store.records import Batch, DeadLetter, RecordRun

SUBSCRIBERS = ("ana", "bo", "žarko")
GAP = 2**24  # sequences between two offsets of a log of one partition
HOLE = 5  # offsets that a sparse log leaves out after each run


def matches(partition: int, offset: int) -> dict[str, list[str]]:
    """The subscriptions that a publication matches, by subscriber."""
    found = {}
    for place, name in enumerate(SUBSCRIBERS):
        ids = [f"s{n}" for n in range(3) if (offset + partition * 5 + n) % (place * 3 + 2) == 0]
        if ids:
            found[name] = ids
    return found


def batch_of(partition: int, first: int, end: int, changes: int = 0) -> Batch:
    """The batch of a range without holes, made the obvious way."""
    return _batch(partition, first, end, (RecordRun(first, end - first),), changes)


def _batch(
    partition: int, first: int, end: int, runs: tuple[RecordRun, ...], changes: int
) -> Batch:
    plain: Plain = {}
    for run in runs:
        for offset in range(run.offset, run.end):
            for name, ids in matches(partition, offset).items():
                plain.setdefault(name, {})[offset] = ids
    return Batch(partition, first, end, changes, runs, segment_of(plain), at=changes)


@dataclass
class Feed:
    """Successive batches of a log with some partitions.

    Attributes:
        partitions: how many.
        is_sparse: whether there are holes between runs of offsets.
        position: where the next batches begin.
        order: the partition and offset of every record, in the order of sequences.
        ends: the sequence at which each batch ends.
    """

    partitions: int
    is_sparse: bool = False
    position: Position = field(default_factory=Position)
    order: list[tuple[int, int]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def batch(self, size: int, dead: Sequence[DeadLetter] = ()) -> Batch:
        """The next batch, of some records of the partition whose turn it is."""
        number = len(self.ends)
        partition = number * 2 % self.partitions
        first = self.position[partition]
        pieces = [size - size // 2, size // 2] if self.is_sparse else [size]
        runs, at = [], first
        for piece in pieces:
            if piece:
                runs.append(RecordRun(at, piece))
                at += piece + (HOLE if self.is_sparse else 0)
        end = at if runs else first + 1
        self.order += [(partition, offset) for run in runs for offset in range(run.offset, run.end)]
        self.position = Position({**self.position, partition: end})
        self.ends.append(end * GAP if self.partitions == 1 else len(self.order))
        return replace(_batch(partition, first, end, tuple(runs), number), dead_letters=tuple(dead))

    @property
    def end(self) -> int:
        """The sequence at which the last batch ends."""
        return self.ends[-1] if self.ends else 0

    def sequence(self, place: int) -> int:
        """The sequence of a record by its place in the order."""
        return (self.order[place][1] + 1) * GAP - 1 if self.partitions == 1 else place

    def queue(self, subscriber: str, start: int = 0) -> list[tuple[int, list[str]]]:
        """The right notifications of a subscriber from a sequence on: sequences and ids."""
        found = (
            (self.sequence(place), matches(*at).get(subscriber))
            for place, at in enumerate(self.order)
        )
        return [(sequence, ids) for sequence, ids in found if ids and sequence >= start]


def pull(
    mailboxes: Mailboxes, subscriber: str, start: int = 0, limit: int = 7
) -> Iterator[tuple[int, list[str]]]:
    """The whole queue of a subscriber, page by page."""
    while True:
        page = mailboxes.queued(subscriber, start, limit)
        assert len(page.sequences) <= limit
        assert page.end >= start
        yield from zip(page.sequences.tolist(), page.subscription_ids, strict=True)
        if not len(page.sequences):
            return
        start = page.end


def commit_all(batches: Batches, feed: Feed, sizes: Sequence[int], epoch: int) -> None:
    """Commits batches of these sizes."""
    for size in sizes:
        progress = batches.commit(feed.batch(size), epoch)
        assert progress.sequence == feed.end


def made_again(batches: Batches, first: int, end: int) -> list[tuple[int, Batch]]:
    """The batches of a range of sequences with notifications, as a pipeline makes them again."""
    found = []
    for sequence, batch in batches.records(first, end):
        again = _batch(batch.partition, batch.first, batch.end, batch.runs, batch.changes)
        found.append((sequence, again))
    return found


def whole(feed: Feed) -> Mapping[str, list[tuple[int, list[str]]]]:
    """The right queue of every subscriber."""
    return {name: feed.queue(name) for name in SUBSCRIBERS}

"""Batches for contract tests, and what they must lead to.

Which subscriptions a publication matches is a plain function of where it is, so a segment can be
made again at any time, and the right queue of a subscriber is told by counting.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.unit.store.segment_strategies import Plain, segment_of
from wherecast.store.contracts import Batches, Mailboxes
from wherecast.store.position import Position
from wherecast.store.records import Batch, DeadLetter, Segment
from wherecast.store.sequences import spans_of

SUBSCRIBERS = ("ana", "bo", "žarko")


def matches(partition: int, offset: int) -> dict[str, list[str]]:
    """The subscriptions that a publication matches, by subscriber."""
    found = {}
    for place, name in enumerate(SUBSCRIBERS):
        ids = [f"s{n}" for n in range(3) if (offset + partition * 5 + n) % (place * 3 + 2) == 0]
        if ids:
            found[name] = ids
    return found


def segment(partition: int, first: int, end: int) -> Segment:
    """The segment of a range, made the obvious way."""
    plain: Plain = {}
    for offset in range(first, end):
        for name, ids in matches(partition, offset).items():
            plain.setdefault(name, {})[offset] = ids
    return Segment(partition, first, end, segment_of(plain))


@dataclass
class Feed:
    """Successive batches of a log with some partitions.

    Attributes:
        partitions: how many.
        position: where the next batch begins.
        order: the partition and offset of every publication, by its sequence.
    """

    partitions: int
    position: Position = field(default_factory=Position)
    order: list[tuple[int, int]] = field(default_factory=list)

    def batch(self, size: int, pieces: int = 1, dead: Sequence[DeadLetter] = ()) -> Batch:
        """The next batch, with `size` publications in each partition, in so many segments."""
        number = len(self.order)
        start = self.position
        # partitions grow unevenly, and some not at all
        grow = {p: (size if (number + p) % 3 or p == 0 else 0) for p in range(self.partitions)}
        self.position = Position({p: start[p] + grow[p] for p in grow})
        parts = []
        for p, grown in grow.items():
            self.order += [(p, start[p] + n) for n in range(grown)]
            cuts = [start[p] + grown * n // pieces for n in range(pieces + 1)]
            parts += [segment(p, *cut) for cut in itertools.pairwise(cuts) if grown]
        return Batch(start, self.position, number, tuple(parts), tuple(dead), at=number)

    def queue(self, subscriber: str, start: int = 0) -> list[tuple[int, list[str]]]:
        """The right notifications of a subscriber: sequences and ids."""
        found = ((n, matches(*at).get(subscriber)) for n, at in enumerate(self.order))
        return [(n, ids) for n, ids in found if ids and n >= start]


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
        assert progress.sequence == len(feed.order)


def made_again(batches: Batches, first: int, end: int) -> list[Segment]:
    """Segments of a range of sequences, as a pipeline makes them again."""
    found = []
    for sequence, batch in batches.records(first, end):
        for span in spans_of(batch.start, batch.end, sequence):
            low = max(first, span.sequence) - span.sequence + span.offset
            high = min(end, span.sequence + span.count) - span.sequence + span.offset
            if low < high:
                found.append(segment(span.partition, low, high))
    return found


def whole(feed: Feed) -> Mapping[str, list[tuple[int, list[str]]]]:
    """The right queue of every subscriber."""
    return {name: feed.queue(name) for name in SUBSCRIBERS}

"""Damaged segments are made again from the log."""

from contextlib import suppress

from wherecast.model import ConflictError
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.match_range import match_range
from wherecast.pipeline.live.subscriptions.subscription_cache import bring_to, subscriptions_at
from wherecast.store.contracts import Batches, Store
from wherecast.store.records import Segment
from wherecast.store.sequences import spans_of


def mend(store: Store, first: int, end: int, now: int) -> None:
    """Matches a range of sequences again, and replaces its segments.

    Nothing changes where the range was merged or trimmed meanwhile: a reader then finds other
    segments.

    Raises:
        StoreError: the log does not have all publications of the range any more.
    """
    with suppress(ConflictError):
        store.mailboxes.replace(first, end, made_again(store, first, end, now))


def made_again(store: Store, first: int, end: int, now: int) -> list[Segment]:
    """The segments of a range of sequences, as its batches made them."""
    records = store.batches.records(first, end)
    if not records:
        return []
    _, oldest = records[0]
    known = subscriptions_at(store.log, store.snapshots, oldest.start, oldest.changes)
    left_out = _left_out(store.batches)
    segments: list[Segment] = []
    for sequence, batch in records:
        bring_to(known, store.log, batch.start, batch.changes)
        for span in spans_of(batch.start, batch.end, sequence):
            start = span.offset + max(first - span.sequence, 0)
            stop = span.offset + min(end - span.sequence, span.count)
            if start < stop:
                part = Range(span.partition, start, stop)
                entries = store.log.read(part.partition, part.first, part.end)
                poison = left_out.get(part.partition, set())
                segments.append(match_range(part, entries, known, now, poison).segment)
    return segments


def _left_out(batches: Batches) -> dict[int, set[int]]:
    """The offsets of all dead letters by partition: they were not matched, and still are not."""
    found: dict[int, set[int]] = {}
    after = -1
    while letters := batches.dead_letters(after):
        for number, letter in letters:
            found.setdefault(letter.partition, set()).add(letter.offset)
            after = number
    return found

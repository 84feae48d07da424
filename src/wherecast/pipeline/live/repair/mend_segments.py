"""Damaged segments are made again from the log."""

from contextlib import suppress
from dataclasses import replace

from wherecast.model import ConflictError
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.match_range import match_range
from wherecast.pipeline.live.stage.read_range import read_range
from wherecast.pipeline.live.subscriptions.subscription_cache import bring_to, subscriptions_at
from wherecast.store.contracts import Batches, Store
from wherecast.store.records import Batch


def mend(store: Store, first: int, end: int, now: int) -> None:
    """Matches a range of sequences again, and replaces its segments.

    Nothing changes where the range was merged or trimmed meanwhile: a reader then finds other
    segments.

    Raises:
        StoreError: the log does not have all publications of the range any more.
    """
    with suppress(ConflictError):
        store.mailboxes.replace(first, end, made_again(store, first, end, now))


def made_again(store: Store, first: int, end: int, now: int) -> list[tuple[int, Batch]]:
    """The batches of a range of sequences with their notifications, as they were made."""
    records = store.batches.records(first, end)
    if not records:
        return []
    _, oldest = records[0]
    start = store.batches.position_at(first)
    known = subscriptions_at(store.log, store.snapshots, start, oldest.changes)
    left_out = _left_out(store.batches)
    made: list[tuple[int, Batch]] = []
    for sequence, batch in records:
        bring_to(known, store.log, start, batch.changes)
        range_ = Range(batch.partition, batch.first, batch.end)
        poison = left_out.get(batch.partition, set())
        matched = match_range(range_, read_range(store.log, range_), known, now, poison)
        made.append((sequence, replace(batch, notifications=matched.notifications, is_sound=True)))
    return made


def _left_out(batches: Batches) -> dict[int, set[int]]:
    """The offsets of all dead letters by partition: they were not matched, and still are not."""
    found: dict[int, set[int]] = {}
    after = -1
    while letters := batches.dead_letters(after):
        for number, letter in letters:
            found.setdefault(letter.partition, set()).add(letter.offset)
            after = number
    return found

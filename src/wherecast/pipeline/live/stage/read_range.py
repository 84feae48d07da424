"""read: a range of the log → its entries."""

from collections.abc import Iterator

from wherecast.model import StoreError
from wherecast.pipeline.live.batch_plan import Range
from wherecast.store.contracts import Log
from wherecast.store.records import Entry


def read_range(log: Log, range_: Range) -> Iterator[Entry]:
    """Yields the whole entries that overlap a range, in order.

    Raises:
        StoreError: the log does not hold the whole range; a part of it may have been trimmed while
            it was read.
    """
    yield from log.read(range_.partition, range_.first, range_.end)
    start, end = log.starts()[range_.partition], log.ends()[range_.partition]
    if not start <= range_.first <= range_.end <= end:
        raise StoreError(
            f"publications {range_.first} to {range_.end - 1} of partition {range_.partition} are "
            f"missing in the log, which has {start} to {end - 1}"
        )

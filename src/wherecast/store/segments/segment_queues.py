"""The queues of subscribers, read and counted from segments."""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.store.contracts import DamagedSegment
from wherecast.store.records import Queued
from wherecast.store.segments.segments import counts, find


def queue(
    segments: Iterable[pa.RecordBatch], subscriber: str, start: int, limit: int, end: int
) -> Queued:
    """The first notifications of a subscriber at a sequence and beyond.

    No more segments are taken than are needed.

    Args:
        segments: in order, all from `start` to `end`; `offsets` are sequences.
        subscriber: its name.
        start: the first sequence that is asked for.
        limit: how many notifications at most; at least 1.
        end: where the segments end.

    Raises:
        DamagedSegment: taking a segment raised it, and no notification lies before that one.
    """
    assert limit > 0
    sequences: list[npt.NDArray[np.int64]] = []
    subscription_ids: list[list[str]] = []
    left = limit
    try:
        for segment in segments:
            found = find(segment, subscriber, start, left)
            if found is None:
                continue
            sequences.append(found.offsets)
            subscription_ids += found.subscription_ids
            left -= len(found.offsets)
            if not left:
                end = int(found.offsets[-1]) + 1
                break
    except DamagedSegment as damage:
        if not sequences:
            raise
        end = damage.first
    # what may lie in a mapped file is copied, so that the file can go
    joined = np.concatenate(sequences) if sequences else np.empty(0, np.int64)
    return Queued(joined, subscription_ids, max(start, end))


def counted(
    segments: Iterable[pa.RecordBatch], starts: Mapping[str, int], end: int
) -> dict[str, int]:
    """How many notifications each subscriber has from a sequence to an end, in all segments."""
    total = dict.fromkeys(starts, 0)
    for segment in segments:
        for name, count in counts(segment, starts, end).items():
            total[name] += count
    return total

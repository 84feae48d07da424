"""The queue of a subscriber, read from segments."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from wherecast.store.records import Queued
from wherecast.store.segments import find


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
    """
    assert limit > 0
    sequences, subscription_ids, left = [], [], limit
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
    # what may lie in a mapped file is copied, so that the file can go
    joined = np.concatenate(sequences) if sequences else np.empty(0, np.int64)
    return Queued(joined, subscription_ids, max(start, end))

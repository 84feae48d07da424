"""The rates at which segments are written and merged under a steady rate of publications."""

from pathlib import Path
from threading import Event, Thread
from time import perf_counter, process_time, sleep

import numpy as np

from wherecast.bench.measured import WrongResult
from wherecast.bench.progress import Row
from wherecast.pipeline.live.stage.group_matches import group_matches
from wherecast.pipeline.live.stage.join_shares import JoinedMatches
from wherecast.pipeline.live.subscriptions.roster import Roster
from wherecast.store.contracts import Store
from wherecast.store.open_store import open_store
from wherecast.store.records import Batch, RecordRun

_COUNT = 200_000
_RATE_S = 10_000  # publications per second
_BATCH = 100  # publications
_SUBSCRIBERS = 1_000
_LOOK_S = 0.01


def measure(size: int | None, matches: int, data: Path) -> Row:
    """Commits batches at the rate, with `matches` matches per publication; merges in parallel."""
    count = max(1, min(size or _COUNT, _COUNT) // _BATCH) * _BATCH
    named = _named()
    store = open_store(data)
    try:
        merged = _Merging(store)
        epoch = store.batches.begin()
        used, begun = process_time(), perf_counter()
        merged.start()
        for first in range(0, count, _BATCH):
            batch = _batch(first, first + _BATCH, matches, named)
            sleep(max(0.0, begun + first / _RATE_S - perf_counter()))
            store.batches.commit(batch, epoch)
        seconds = perf_counter() - begun
        busy = (process_time() - used) / seconds
        in_time = merged.count
        merged.stop()
        counts = store.mailboxes.counts(dict.fromkeys(_names(), 0))
        notified = sum(counts.values())
    finally:
        store.close()
    if notified != count * matches:
        raise WrongResult(f"{notified:,} notifications were kept instead of {count * matches:,}")
    return {
        "what": f"segments, × {matches}",
        "publications": count,
        "matches": notified,
        "notifications": notified,
        "seconds": seconds,
        "rate/s": count / seconds,
        "segments written/s": count / _BATCH / seconds,
        "segments merged/s": in_time / seconds,
        "segments left": count // _BATCH - merged.count,
        "busy share": busy,
    }


class _Merging:
    """A thread that merges segments.

    Attributes:
        count: number of segments that merging has saved so far.
    """

    def __init__(self, store: Store) -> None:
        self.count = 0
        self._store = store
        self._stopped = Event()
        self._thread = Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread when no merge is due any more."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            fewer = self._store.mailboxes.merge()
            self.count += fewer
            if not fewer and self._stopped.wait(_LOOK_S):
                return


def _named() -> Roster:
    """A roster with one subscription per subscriber."""
    named = Roster()
    for version, name in enumerate(_names()):
        named.held.enter(version, name, "s1", "stream")
    return named


def _names() -> list[str]:
    return [f"subscriber-{number:04}" for number in range(_SUBSCRIBERS)]


def _batch(first: int, end: int, matches: int, named: Roster) -> Batch:
    """A batch whose publications go to `matches` subscribers each, in turn."""
    offsets = np.repeat(np.arange(first, end), matches)
    versions = np.arange(first * matches, end * matches) % _SUBSCRIBERS
    notifications = group_matches(JoinedMatches(offsets, versions), named)
    return Batch(0, first, end, 0, (RecordRun(first, end - first),), notifications)

"""How many segments are written and merged while publications come at a steady rate."""

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
from wherecast.store.position import Position
from wherecast.store.records import Batch, Segment

_COUNT = 200_000
_RATE_S = 10_000  # publications per second
_BATCH = 100  # publications
_SUBSCRIBERS = 1_000
_LOOK_S = 0.01


def measure(size: int | None, matches: int, data: Path) -> Row:
    """Commits batches at the rate, each publication with so many matches, and merges beside it."""
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
        counts = store.mailboxes.counts(dict.fromkeys(named.subscribers, 0))
        notified = sum(counts.values())
    finally:
        store.close()
    if notified != count * matches:
        raise WrongResult(f"{notified:,} notifications are kept, {count * matches:,} are right")
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
    """Merges what is due in a thread of its own.

    Attributes:
        count: how many segments fewer there are by now.
    """

    def __init__(self, store: Store) -> None:
        self.count = 0
        self._store = store
        self._stopped = Event()
        self._thread = Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends once nothing is due."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            fewer = self._store.mailboxes.merge()
            self.count += fewer
            if not fewer and self._stopped.wait(_LOOK_S):
                return


def _named() -> Roster:
    """A subscription of each subscriber, by number."""
    named = Roster()
    named.subscribers += [f"subscriber-{number:04}" for number in range(_SUBSCRIBERS)]
    named.ids += ["s1"] * _SUBSCRIBERS
    return named


def _batch(first: int, end: int, matches: int, named: Roster) -> Batch:
    """A batch in which each publication is for some subscribers, the next one for the next."""
    offsets = np.repeat(np.arange(first, end), matches)
    numbers = np.arange(first * matches, end * matches) % _SUBSCRIBERS
    segment = Segment(0, first, end, group_matches(JoinedMatches(offsets, numbers), named))
    return Batch(Position({0: first}), Position({0: end}), 0, (segment,))

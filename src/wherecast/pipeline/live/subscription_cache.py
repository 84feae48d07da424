"""The subscriptions in force that a process keeps between batches.

Concurrency: one thread at a time.
"""

import logging
from contextlib import suppress

from wherecast.model import ConfigError
from wherecast.pipeline.live import live_snapshots
from wherecast.pipeline.live.in_force import InForce
from wherecast.store.blobs.blobs import Blobs
from wherecast.store.contracts import Log
from wherecast.store.position import Position

_COLLECT_EVERY = 64  # batches
_log = logging.getLogger("wherecast.pipeline")


class SubscriptionCache:
    """Brings the subscriptions in force to what a batch needs.

    Args:
        log: where changes are.
        blobs: where snapshots are, if there is such a place.
    """

    def __init__(self, log: Log, blobs: Blobs | None) -> None:
        self._log = log
        self._blobs = blobs
        self._known: InForce | None = None
        self._saved = 0
        self._calls = 0
        self._told: set[str] = set()

    def at(self, start: Position, changes: int) -> InForce:
        """The subscriptions for a batch that begins at a position and knows some changes.

        Changes that are damaged are passed over, and told once.

        Raises:
            StoreError: changes are missing.
        """
        known = self._known
        is_late = self._calls % _COLLECT_EVERY == 0
        if known is not None and is_late and self._is_mended(known):
            known = None
        if known is None or not start.reaches(known.floor):  # an earlier batch is made again
            known = InForce() if self._blobs is None else live_snapshots.load(self._blobs, start)
            self._known, self._saved = known, known.version
        if known.version < changes:
            known.advance(self._log.changes(known.version, changes), changes)
            known.measure()
            self._tell(known)
        self._calls += 1
        # A snapshot would keep what a damaged change made away even after it was mended.
        is_sound = self._blobs is not None and not known.passed_over
        is_due = is_sound and live_snapshots.is_due(known, self._saved)
        if is_due or self._calls % _COLLECT_EVERY == 0:
            known.collect(start)
            known.measure()
        if is_due:
            self._save(known)
        return known

    def _is_mended(self, known: InForce) -> bool:
        """Whether what was passed over can be read now."""
        return bool(known.passed_over) and not any(
            entry.damage
            for version in known.passed_over
            for entry in self._log.changes(version, version + 1)
        )

    def _tell(self, known: InForce) -> None:
        """Tells what was passed over, once."""
        for damage in known.passed_over.values():
            if damage not in self._told:
                self._told.add(damage)
                _log.warning("%s; what it made is not matched", damage)

    def _save(self, known: InForce) -> None:
        """Writes a snapshot, unless another process was quicker."""
        assert self._blobs is not None
        with suppress(ConfigError):  # a full disk: the changes tell the same
            if live_snapshots.is_due(known, live_snapshots.newest(self._blobs)):
                live_snapshots.save(known, self._blobs)
        self._saved = known.version

"""The live subscriptions that a process keeps between batches.

Concurrency: one thread at a time.
"""

import logging
from contextlib import suppress

from wherecast.model import ConfigError
from wherecast.pipeline.live.subscriptions import live_snapshots
from wherecast.pipeline.live.subscriptions.live_subscriptions import (
    DEFAULT_INDEX,
    LiveSubscriptions,
)
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.store.blobs.blobs import Blobs
from wherecast.store.contracts import Log
from wherecast.store.position import Position

_COLLECT_EVERY = 64  # batches
_log = logging.getLogger("wherecast.pipeline")


def subscriptions_at(
    log: Log,
    blobs: Blobs | None,
    start: Position,
    changes: int,
    factory: IndexFactory | None = None,
) -> LiveSubscriptions:
    """The subscriptions for publications from a position on, with the changes before a version.

    Begins at the newest snapshot that reaches so far back and stands for no later change, and reads
    only the changes since.

    Args:
        log: where changes are.
        blobs: where snapshots are, if there is such a place.
        start: the first publications that will be matched.
        changes: the changes before this version are known.
        factory: makes the indexes; None takes the kind of the snapshot.

    Raises:
        StoreError: changes are missing.
    """
    known = LiveSubscriptions(factory or DEFAULT_INDEX)
    if blobs is not None:
        known = live_snapshots.load(blobs, start, factory, changes=changes)
    bring_to(known, log, start, changes)
    return known


def bring_to(known: LiveSubscriptions, log: Log, start: Position, changes: int) -> None:
    """Takes in the changes before a version that are not known yet.

    Raises:
        StoreError: changes are missing.
    """
    if known.roster.version < changes:
        known.advance(log.changes(known.roster.version, changes), changes, start)


class SubscriptionCache:
    """The live subscriptions of a process, brought to the state that each batch needs.

    Args:
        log: where changes are.
        blobs: where snapshots are, if there is such a place.
        factory: makes the indexes.

    Attributes:
        loads: how often the subscriptions were loaded anew.
    """

    def __init__(
        self, log: Log, blobs: Blobs | None, factory: IndexFactory = DEFAULT_INDEX
    ) -> None:
        self._log = log
        self._blobs = blobs
        self._factory = factory
        self.loads = 0
        self._known: LiveSubscriptions | None = None
        self._saved = 0
        self._calls = 0
        self._told: set[str] = set()

    def at(self, start: Position, changes: int) -> LiveSubscriptions:
        """The subscriptions for a batch that begins at a position and knows some changes.

        A damaged change is passed over, and logged once.

        Raises:
            StoreError: changes are missing.
        """
        known = self._known
        if known is None or not known.roster.serves(start, changes):  # an earlier batch comes again
            known = LiveSubscriptions(self._factory)
            if self._blobs is not None:
                known = live_snapshots.load(self._blobs, start, self._factory, changes=changes)
            self._saved = known.roster.version
            self.loads += 1
        self._known = None  # an error below leaves no half-made state behind
        if known.roster.version < changes:
            bring_to(known, self._log, start, changes)
            known.measure()
            self._tell(known)
        self._calls += 1
        # A snapshot would hide that a damaged change was passed over.
        is_sound = self._blobs is not None and not known.roster.passed_over
        is_due = is_sound and live_snapshots.is_due(known, self._saved)
        if is_due or self._calls % _COLLECT_EVERY == 0:
            known.collect(start)
            known.measure()
        if is_due:
            self._save(known)
        self._known = known
        return known

    def _tell(self, known: LiveSubscriptions) -> None:
        """Logs each damaged change once."""
        for damage in known.roster.passed_over.values():
            if damage not in self._told:
                self._told.add(damage)
                _log.warning("%s; what it made is not matched", damage)

    def _save(self, known: LiveSubscriptions) -> None:
        """Writes a snapshot, unless another process was quicker."""
        assert self._blobs is not None
        with suppress(ConfigError):  # a full disk: the changes tell the same
            if live_snapshots.is_due(known, live_snapshots.newest(self._blobs)):
                live_snapshots.save(known, self._blobs)
        self._saved = known.roster.version

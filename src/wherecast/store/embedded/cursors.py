"""Cursors on disk, in `log.db`: what is written together with publications takes no further sync.

A damaged cursor counts as one that has acknowledged nothing: the queue
of its subscriber is delivered again, since a loss would be worse. A warning and `wherecast store
check` name the damage.

Concurrency: any number of threads. One process, the owner of the directory, writes; others read.
"""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from typing_extensions import override

from wherecast.store.contracts import Cursors
from wherecast.store.embedded.log.cursor_rows import cursor_of, cursor_row, cursor_rows
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.records import Cursor
from wherecast.store.store_items import CursorWrites, PendingCursors

_log = logging.getLogger("wherecast.store")


class EmbeddedCursors(Cursors):
    """What each subscriber acknowledged.

    Args:
        log: the log whose file holds the cursors.
    """

    def __init__(self, log: EmbeddedLog) -> None:
        self._log = log
        self._database = log.database

    @override
    def read(self, subscriber: str) -> Cursor | None:
        row = cursor_row(self._database, subscriber)
        return None if row is None else _intact(row)

    @override
    def write(self, cursors: CursorWrites) -> None:
        if cursors:
            self._log.write([PendingCursors(dict(cursors))])

    @override
    def all(self) -> Iterator[tuple[str, Cursor]]:
        """Yields every cursor by name; one that is written meanwhile may be missed."""
        for row in cursor_rows(self._database):
            yield row[0], _intact(row)


def _intact(row: Sequence[Any]) -> Cursor:
    found = cursor_of(row)
    if found is None:
        _log.warning("the cursor of %r is damaged: its queue is delivered again", row[0])
        return Cursor()
    return found

"""A log in lists, for tests of the live pipeline: records in, entries and changes out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from tests.contract.stores import changes
from wherecast import Schema
from wherecast.columns import decode_rows
from wherecast.columns.log_encoding import encode_batch
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry, Entry


class LiveLog:
    """Entries and change entries of records in one order.

    A record is ("publish", [(stream, row), …]), an entry per row, or ("change", [(kind, stream,
    subscriber, id, text), …]). The streams are defined first.
    """

    def __init__(self, schemas: Mapping[str, Schema], records: Sequence[tuple[str, Any]]) -> None:
        self.end = self.changes_end = 0
        self._entries: list[Entry] = []
        self._changes: list[ChangeEntry] = []
        self._change([("stream", name, "", "", s.to_json()) for name, s in schemas.items()])
        for kind, content in records:
            if kind == "change":
                self._change(content)
            else:
                for stream, row in content:
                    batch = decode_rows([row], schemas[stream]).batch
                    data = encode_batch(batch, schemas[stream])
                    self._entries.append(Entry(0, self.end, 1, stream, 0, data))
                    self.end += 1

    def _change(self, content: Sequence[tuple[Any, ...]]) -> None:
        batch = changes(*content)
        position = Position({0: self.end})
        self._changes.append(ChangeEntry(self.changes_end, len(content), position, 0, batch))
        self.changes_end += len(content)

    def entries(self, first: int, end: int) -> Iterator[Entry]:
        """Those of a range of offsets."""
        yield from self._entries[first:end]

    def changes(self, start: int, end: int) -> Iterator[ChangeEntry]:
        """Those that overlap a range of versions."""
        for entry in self._changes:
            if entry.version < end and entry.end > start:
                yield entry

    def changes_before(self, offset: int) -> int:
        """The version after the last change that acts on a publication before an offset."""
        acting = [c for c in self._changes if c.acts_from[0] < offset or not offset]
        return acting[-1].end if acting else 0


def told(notifications: pa.RecordBatch) -> dict[tuple[str, int], list[str]]:
    """The subscriptions of each notification, by subscriber and offset."""
    return {
        (row["subscriber"], offset): [row["subscription_ids"][place] for place in places]
        for row in notifications.to_pylist()
        for offset, places in zip(row["offsets"], row["matched"], strict=True)
    }

"""Notifications as JSON: a publication is encoded once, however many subscribers get it.

Concurrency: any number of threads; what two of them need at once may be encoded twice.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.dispatch.publication_cache import LoggedPublication
from wherecast.delivery import QueuedNotification, encode_cursor
from wherecast.server.http.messages.notification_messages import notification_json, publication_part

_READ_AT_ONCE = 100  # publications: what is read and then does not fit is read again
_FEW = 16
_CACHE_BYTES = 16 << 20
_ENTRY_BYTES = 200  # beside its JSON
_UNWRITABLE = b""  # stands for a publication that JSON has no form for
_LARGE_SHARE = 16  # a publication above this share of the cache is not kept

_log = logging.getLogger("wherecast.http")
_Read = Callable[[Sequence[int]], Sequence[LoggedPublication | None] | None]


@dataclass(frozen=True, slots=True)
class WrittenNotifications:
    """Notifications as JSON.

    Attributes:
        each: the JSON of each notification that can be delivered.
        used: the number of notifications that were looked at, lost ones included.
    """

    each: list[bytes]
    used: int


class NotificationWriter:
    """Writes the notifications that queues hand out.

    Args:
        core: has the publications and the queues.
        cache_bytes: how much JSON of recent publications is kept.

    Attributes:
        encoded: number of publications that were encoded.
        unwritable: number of notifications that were lost since JSON has no form for a value.
    """

    def __init__(self, core: BrokerCore, cache_bytes: int = _CACHE_BYTES) -> None:
        self.encoded = 0
        self.unwritable = 0
        self._core = core
        self._cache_bytes = cache_bytes
        self._lock = Lock()
        self._parts: OrderedDict[int, bytes] = OrderedDict()  # by sequence
        self._bytes = 0
        self._reported: set[str] = set()

    def within(
        self, name: str, handed: Sequence[QueuedNotification], bytes_max: int
    ) -> WrittenNotifications:
        """The first notifications of those that a queue handed out, up to a size; one at least.

        A notification whose publication is damaged in the log, or has no form in JSON, is lost: it
        is left out, taken off the queue, and counted.
        """
        each: list[bytes] = []
        size = 0
        for start in range(0, len(handed), _READ_AT_ONCE):
            some = handed[start : start + _READ_AT_ONCE]
            parts = self._parts_of([one.sequence for one in some], self._core.publications) or ()
            lost = [one.sequence for one, part in zip(some, parts, strict=True) if not part]
            if lost:
                self._core.lose(name, lost)
                with self._lock:
                    self.unwritable += sum(part == _UNWRITABLE for part in parts)
            for place, (one, part) in enumerate(zip(some, parts, strict=True)):
                if part:
                    each.append(_written(one, part))
                    size += len(each[-1])
                    if size >= bytes_max:
                        return WrittenNotifications(each, start + place + 1)
        return WrittenNotifications(each, len(handed))

    def at_hand(
        self, handed: Sequence[QueuedNotification], bytes_max: int
    ) -> WrittenNotifications | None:
        """The same where they are few and nothing is to be read or lost for them; else None."""
        if not 0 < len(handed) <= _FEW:
            return None
        parts = self._parts_of([one.sequence for one in handed], self._core.cached_publications)
        if parts is None or not all(parts):
            return None
        each: list[bytes] = []
        size = 0
        for one, part in zip(handed, parts, strict=True):
            each.append(_written(one, part or b""))
            size += len(each[-1])
            if size >= bytes_max:
                break
        return WrittenNotifications(each, len(each))

    def _parts_of(self, sequences: Sequence[int], read: _Read) -> list[bytes | None] | None:
        """The JSON of publications; None for a damaged one, or for all where none is read."""
        with self._lock:
            found = [self._parts.get(sequence) for sequence in sequences]
        missing = [place for place, part in enumerate(found) if part is None]
        if missing:
            received = read([sequences[place] for place in missing])
            if received is None:
                return None
            for place, got in zip(missing, received, strict=True):
                found[place] = self._encoded(got)
            self._keep([(sequences[place], part) for place in missing if (part := found[place])])
        return found

    def _encoded(self, got: LoggedPublication | None) -> bytes | None:
        if got is None:
            return None
        self.encoded += 1  # two threads may count one: it is a figure, not a promise
        try:
            return publication_part(got.stream, got.offset, got.publication)
        except TypeError as error:
            self._report(got, error)
            return _UNWRITABLE

    def _report(self, got: LoggedPublication, error: TypeError) -> None:
        """Logs the first publication of a stream that cannot be written."""
        if got.stream not in self._reported:
            self._reported.add(got.stream)
            _log.error(
                "the publication at offset %d of stream %s has no form in JSON (%s); its "
                "notifications are lost, and further ones are only counted",
                got.offset,
                got.stream,
                error,
            )

    def _keep(self, parts: Sequence[tuple[int, bytes]]) -> None:
        """Keeps the JSON of publications, and drops the oldest beyond the size of the cache."""
        size_max = self._cache_bytes // _LARGE_SHARE - _ENTRY_BYTES
        with self._lock:
            for sequence, part in parts:
                if len(part) <= size_max and sequence not in self._parts:
                    self._parts[sequence] = part
                    self._bytes += len(part) + _ENTRY_BYTES
            while self._bytes > self._cache_bytes:
                _, oldest = self._parts.popitem(last=False)
                self._bytes -= len(oldest) + _ENTRY_BYTES


def _written(one: QueuedNotification, part: bytes) -> bytes:
    ids = one.subscription_ids
    return notification_json(encode_cursor(one.sequence), part, ids, one.redelivered)

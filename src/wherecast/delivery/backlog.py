"""The notifications of one subscriber in memory, and its acknowledgements.

Every notification before `known` is in memory or acknowledged; later ones are in the store.
"""

from collections.abc import Collection, Iterable, Sequence

from wherecast.delivery.cursor import encode_cursor
from wherecast.delivery.queue_items import QueueItems
from wherecast.delivery.single_acks import SingleAcks
from wherecast.model import AcknowledgementError

# Most backlogs are idle. They share these empty ones until they have something to hold.
_NO_ITEMS = QueueItems()
_NO_ACKS = SingleAcks()


class Backlog:
    """The notifications in memory, between what is acknowledged and what is in the store.

    Args:
        through: every notification before this sequence is acknowledged.
        beyond: single acknowledged notifications at that sequence or after it.

    Attributes:
        held: the notifications in memory.
        known: notifications before this sequence are in memory or acknowledged.
    """

    __slots__ = ("_beyond", "held", "known")

    def __init__(self, through: int, beyond: Collection[int]) -> None:
        self.held = _NO_ITEMS
        self.known = through
        self._beyond = SingleAcks(beyond) if beyond else _NO_ACKS

    @property
    def through(self) -> int:
        """Every notification before this sequence is acknowledged."""
        first = self.held.first()
        return self.known if first is None else first

    def beyond(self) -> frozenset[int]:
        """The single acknowledgements at `through` or after it."""
        return self._beyond.frozen()

    def extend(
        self, start: int, items: Iterable[tuple[int, Sequence[str]]], end: int, room: int
    ) -> None:
        """Holds the new notifications of a range; `known` stops at the first one without room.

        A range that begins after `known` is ignored, as notifications before it are missing.

        Args:
            start: where the range begins.
            items: all notifications of the range, in order.
            end: where the range ends.
            room: how many notifications may be added.
        """
        if not start <= self.known < end:
            return
        for sequence, ids in items:
            if sequence < self.known or sequence in self._beyond:
                continue
            if room == 0:
                end = sequence
                break
            if self.held is _NO_ITEMS:
                self.held = QueueItems()
            self.held.add(sequence, tuple(ids))
            room -= 1
        self.known = end
        self._beyond.drop_before(self.through)

    def acknowledge(self, sequences: Iterable[int], beyond_max: int) -> tuple[bool, int]:
        """Acknowledges single notifications, all or none.

        A second acknowledgement does no harm. One of a notification that is not known yet is
        taken on trust.

        Returns:
            Whether something changed, and how many of the notifications were held.

        Raises:
            AcknowledgementError: one is not in the queue, or there are too many beyond `through`.
        """
        new = {sequence for sequence in sequences if self._is_open(sequence)}
        through = next((one for one, _ in self.held if one not in new), self.known)
        later = [sequence for sequence in new if sequence >= through]
        self._check_room(len(later), through, beyond_max)
        count = sum(self.held.remove(sequence) for sequence in new)
        if later and self._beyond is _NO_ACKS:
            self._beyond = SingleAcks()
        for sequence in later:
            self._beyond.add(sequence)
        self._beyond.drop_before(through)
        return bool(new), count

    def remove_before(self, sequence: int) -> int:
        """Drops all notifications before a sequence; gives the number of those that were held."""
        count = self.held.remove_before(sequence)
        self.known = max(self.known, sequence)
        self._beyond.drop_before(self.through)
        return count

    def release(self) -> None:
        """Drops all notifications from memory; they are to be read from the store again."""
        self.known = self.through
        self.held = _NO_ITEMS

    def _is_open(self, sequence: int) -> bool:
        """Whether a notification is not acknowledged yet, as far as is known here."""
        if sequence in self.held:
            return True
        if sequence < self.through or sequence in self._beyond:
            return False
        if sequence < self.known:
            cursor = encode_cursor(sequence)
            raise AcknowledgementError(f"{cursor} is not in the queue", cursor, "not_queued")
        return True

    def _check_room(self, more: int, through: int, beyond_max: int) -> None:
        if not more or len(self._beyond) + more <= beyond_max:
            return
        if self._beyond.count_from(through) + more > beyond_max:  # last, as it looks at all
            cursor = encode_cursor(through)
            raise AcknowledgementError(
                f"more than {beyond_max} acknowledgements beyond {cursor}, the first notification "
                "that would not be acknowledged; acknowledge that one too",
                cursor,
                "limit",
            )

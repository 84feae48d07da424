"""What a subscriber has not acknowledged, as far as it is known, and what it has.

Everything before `known` is in memory or acknowledged; what comes after is in the store.
"""

from collections.abc import Collection, Iterable, Sequence

from wherecast.delivery.cursor import encode_cursor
from wherecast.delivery.queue_items import Held
from wherecast.delivery.single_acks import Beyond
from wherecast.model import AcknowledgementError

# Most backlogs are idle. They share these, and get their own when there is something to put in.
_NOTHING_HELD = Held()
_NONE_BEYOND = Beyond()


class Backlog:
    """The notifications in memory, between what is acknowledged and what is in the store.

    Args:
        through: every notification before this sequence is acknowledged.
        beyond: single ones at it or after it, that are.

    Attributes:
        held: what is in memory.
        known: notifications before this sequence are in memory or acknowledged.
    """

    __slots__ = ("_beyond", "held", "known")

    def __init__(self, through: int, beyond: Collection[int]) -> None:
        self.held = _NOTHING_HELD
        self.known = through
        self._beyond = Beyond(beyond) if beyond else _NONE_BEYOND

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
        """Holds what is new of a range, at most so many; `known` stops at the first without room.

        A range that does not begin at `known` or before it is no use.
        """
        if not start <= self.known < end:
            return
        for sequence, ids in items:
            if sequence < self.known or sequence in self._beyond:
                continue
            if room == 0:
                end = sequence
                break
            if self.held is _NOTHING_HELD:
                self.held = Held()
            self.held.add(sequence, tuple(ids))
            room -= 1
        self.known = end
        self._beyond.drop_before(self.through)

    def acknowledge(self, sequences: Iterable[int], beyond_max: int) -> tuple[bool, int]:
        """Acknowledges single ones, all or none; whether that is news, and how many were held.

        Those that already were do no harm. One that is not known is taken on trust.

        Raises:
            AcknowledgementError: one is not in the queue, or there are too many beyond `through`.
        """
        new = {sequence for sequence in sequences if self._is_open(sequence)}
        through = next((one for one, _ in self.held if one not in new), self.known)
        later = [sequence for sequence in new if sequence >= through]
        self._check_room(len(later), through, beyond_max)
        count = sum(self.held.remove(sequence) for sequence in new)
        if later and self._beyond is _NONE_BEYOND:
            self._beyond = Beyond()
        for sequence in later:
            self._beyond.add(sequence)
        self._beyond.drop_before(through)
        return bool(new), count

    def remove_before(self, sequence: int) -> int:
        """Is done with everything before a sequence; says how many of that were held."""
        count = self.held.remove_before(sequence)
        self.known = max(self.known, sequence)
        self._beyond.drop_before(self.through)
        return count

    def release(self) -> None:
        """Forgets what is in memory; it is not known any more."""
        self.known = self.through
        self.held = _NOTHING_HELD

    def _is_open(self, sequence: int) -> bool:
        """Whether one is not acknowledged yet, as far as that is known."""
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

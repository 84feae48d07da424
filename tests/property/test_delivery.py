"""Random histories of one queue against the obvious model: sets of what is and what was."""

from itertools import count
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from tests.property.strategies import RANDOMS
from wherecast import AcknowledgementError
from wherecast.delivery import (
    Close,
    Cursor,
    Effect,
    LoadNotifications,
    Queue,
    QueuedNotification,
    QueueLimits,
    SaveCursor,
    Send,
)

DISTURBANCES = ["crash", "restart", "release", "trim", "drain by pull", "drain by push"]


class Histories(RuleBasedStateMachine):
    """A queue with its shell, and what should be in it.

    The log holds `published` publications. The pipeline told the queue of those before `told`, and
    committed those before `committed`. `box` has what is for this subscriber in the whole log.
    """

    @initialize(rng=RANDOMS)
    def start(self, rng: Random) -> None:
        self.rng = rng
        self.limits = QueueLimits(rng.randint(1, 8), rng.randint(1, 4), rng.randint(1, 4))
        self.box: dict[int, tuple[str, ...]] = {}
        self.published = self.told = self.committed = self.lost = 0
        self.acked: set[int] = set()
        self.received: set[int] = set()  # in any life
        self.saved = (Cursor(), frozenset[int]())
        self.connections = count(1)
        self.open()
        self.pull(1, patient=True)  # so that what comes is held
        for _ in range(rng.randint(0, 4)):
            self.notify()

    def open(self) -> None:
        self.queue = Queue(self.saved[0], self.committed, self.published, self.limits)
        self.acked = set(self.saved[1])
        self.unsure = self.published
        self.handed: set[int] = set()
        self.told = self.committed
        self.load: LoadNotifications | None = None
        self.connection, self.window, self.last_sent = 0, 0, -1
        self.in_flight: set[int] = set()

    # What the model says.

    def unacked(self) -> list[int]:
        return sorted(self.box.keys() - self.acked)

    def handed_before(self) -> int:
        return max([self.unsure, *(sequence + 1 for sequence in self.handed)])

    def through(self, acked: set[int]) -> int:
        known = self.queue.known
        return min((one for one in self.box.keys() - acked if one < known), default=known)

    # The shell.

    def perform(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            if isinstance(effect, LoadNotifications):
                assert self.load is None
                assert 0 < effect.limit <= self.limits.held_max
                self.load = effect
            elif isinstance(effect, Send):
                self.receive_push(effect)
            else:
                assert isinstance(effect, SaveCursor)

    def receive_push(self, send: Send) -> None:
        assert send.connection == self.connection
        assert send.notifications
        for one in send.notifications:
            assert one.sequence > self.last_sent
            self.last_sent = one.sequence
            self.in_flight.add(one.sequence)
        self.receive(send.notifications)

    def receive(self, notifications: tuple[QueuedNotification, ...]) -> None:
        sequences = [one.sequence for one in notifications]
        assert sequences == sorted(set(sequences))
        for one in notifications:
            assert one.sequence not in self.acked
            assert one.subscription_ids == self.box[one.sequence]
            before = one.sequence < self.unsure or one.sequence in self.handed
            assert one.redelivered == before
            assert before or one.sequence not in self.received
        self.handed |= set(sequences)
        self.received |= set(sequences)

    def answer(self) -> None:
        assert self.load is not None
        start, limit = self.load.start, self.load.limit
        self.load = None
        there = sorted(one for one in self.box if start <= one < self.committed)
        given = there[:limit]
        end = there[limit - 1] + 1 if len(there) > limit else max(self.committed, start)
        self.perform(self.queue.loaded(start, given, [self.box[one] for one in given], end))

    def forget(self, gone: set[int]) -> None:
        self.in_flight -= gone

    # What happens.

    @rule()
    def notify(self) -> None:
        """The next publications are matched; those that an earlier life told are as they were."""
        first, self.told = self.told, self.told + self.rng.randint(1, 6)
        for sequence in range(max(first, self.published), self.told):
            if self.rng.random() < 0.6:
                self.box[sequence] = tuple(sorted(self.rng.sample("abc", self.rng.randint(1, 3))))
        self.published = max(self.published, self.told)
        if self.rng.random() < 0.8:
            items = [(one, self.box[one]) for one in range(first, self.told) if one in self.box]
            self.perform(self.queue.notified(first, self.told, items))

    @rule()
    def commit(self) -> None:
        self.committed = self.rng.choice([self.told, self.rng.randint(self.committed, self.told)])
        self.perform(self.queue.committed(self.committed))

    @precondition(lambda self: self.load)
    @rule(fails=st.booleans())
    def answer_load(self, fails: bool) -> None:
        if fails:
            self.queue.load_failed()
            self.load = None
        else:
            self.answer()

    @rule(most=st.integers(1, 8), patient=st.booleans())
    def pull(self, most: int, patient: bool) -> None:
        """A pull, where a load is answered at once or some time later."""
        if patient and self.load:
            self.answer()
        while isinstance(got := self.queue.take(most), LoadNotifications):
            self.perform((got,))
            if patient:
                self.answer()
        self.receive(got)
        sequences = [one.sequence for one in got]
        unacked = self.unacked()
        assert sequences == unacked[: len(sequences)]
        if self.load is None and len(got) < min(most, self.limits.held_max):
            assert not [one for one in unacked[len(got) :] if one < self.committed]
            assert self.queue.is_ready == bool(got)

    @rule()
    def connect(self) -> None:
        window = self.rng.randint(1, self.limits.in_flight_max)
        old, self.connection = self.connection, next(self.connections)
        self.window = window
        self.last_sent = -1
        self.in_flight = set()
        effects = self.queue.connect(self.connection, window)
        if old:
            close, *rest = effects
            assert isinstance(close, Close)
            assert close.connection == old
            effects = tuple(rest)
        self.perform(effects)

    @precondition(lambda self: self.connection)
    @rule(late=st.booleans())
    def disconnect(self, late: bool) -> None:
        if late:
            self.queue.disconnect(self.connection - 1)
            return
        self.queue.disconnect(self.connection)
        self.connection, self.in_flight = 0, set()

    def some(self) -> int:
        """Most often a sequence that can be acknowledged."""
        handed = self.handed.intersection(self.unacked())
        chance = self.rng.random()
        if handed and chance < 0.8:
            return self.rng.choice(sorted(handed))
        if handed and chance < 0.9:
            return self.rng.randint(min(handed), max(handed))
        return self.rng.randint(0, self.published + 2)

    @rule()
    def ack(self) -> None:
        given = [self.some() for _ in range(self.rng.randint(1, 4))]
        before = self.queue.cursor
        done = before.beyond | {one for one in given if one < before.through}
        new = set(given) - done
        known, acked = self.queue.known, self.acked | new
        gaps = [one for one in new if one < known and one not in self.box.keys() - self.acked]
        beyond = {one for one in before.beyond | new if one >= self.through(acked)}
        later = len(beyond) > self.limits.acknowledgements_max and beyond - before.beyond
        if gaps or later or any(one >= self.handed_before() for one in given):
            with pytest.raises(AcknowledgementError):
                self.queue.ack(given)
            assert self.queue.cursor == before
            return
        self.acked = acked
        self.forget(new)
        effects = self.queue.ack(given)
        assert bool(new) == (SaveCursor() in effects)
        self.perform(effects)

    @rule()
    def ack_through(self) -> None:
        sequence = self.some()
        before = self.queue.cursor
        if sequence >= self.handed_before():
            with pytest.raises(AcknowledgementError):
                self.queue.ack_through(sequence)
            assert self.queue.cursor == before
            return
        self.acknowledge_through(sequence)

    def acknowledge_through(self, sequence: int) -> None:
        gone = {one for one in self.box if one <= sequence}
        changed = bool(gone - self.acked)
        self.acked |= gone
        self.forget(gone)
        effects = self.queue.ack_through(sequence)
        assert SaveCursor() in effects or not changed
        self.perform(effects)

    @rule()
    def save(self) -> None:
        self.saved = (self.queue.cursor, frozenset(self.acked))

    # One rule for what undoes the work of many others, so that it comes seldom.
    @rule(what=st.sampled_from(DISTURBANCES))
    def disturb(self, what: str) -> None:
        if what == "crash":
            self.open()
        elif what == "restart":
            self.save()
            self.open()
        elif what == "release":
            self.queue.release()
        elif what == "trim":
            self.trim(self.rng.randint(0, self.committed))
        else:
            self.drain(push=what == "drain by push")

    def trim(self, before: int) -> None:
        gone = {one for one in self.box if one < before}
        lost = len(gone - self.acked)
        self.lost += lost
        for one in gone:
            del self.box[one]
        self.forget(gone)
        effects = self.queue.trimmed(before, lost)
        assert self.queue.cursor.through >= before
        assert SaveCursor() in effects or not lost
        self.perform(effects)
        self.save()

    def drain(self, push: bool) -> None:
        """Everything comes, and is acknowledged."""
        self.told = self.committed = self.published
        self.perform(self.queue.committed(self.committed))
        if push:
            self.connect()
        while self.unacked():
            left = len(self.unacked())
            while self.load:
                self.answer()
            if not push:
                self.pull(3, patient=True)
            self.acknowledge_through(
                max(self.in_flight or self.handed.intersection(self.unacked()))
            )
            assert len(self.unacked()) < left

    @invariant()
    def within_limits(self) -> None:
        if not hasattr(self, "queue"):
            return
        figures = self.queue.figures
        assert figures.queued <= self.limits.held_max
        assert figures.in_flight == len(self.in_flight) <= self.window
        assert figures.lost == self.lost
        assert len(self.queue.cursor.beyond) <= self.limits.acknowledgements_max

    @invariant()
    def cursor_is_true(self) -> None:
        if not hasattr(self, "queue"):
            return
        cursor = self.queue.cursor
        assert cursor.through == self.through(self.acked)
        assert all(one >= cursor.through for one in cursor.beyond)
        for one in self.box:
            assert (one < cursor.through or one in cursor.beyond) == (one in self.acked)


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=300, stateful_step_count=40, deadline=None)

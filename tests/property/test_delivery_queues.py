"""Random histories of several subscribers: each gets what is its own, without being asked twice."""

from itertools import count
from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.property.strategies import RANDOMS
from wherecast.delivery import (
    Close,
    Cursor,
    Effect,
    LoadNotifications,
    QueuedNotification,
    QueueLimits,
    Queues,
    SaveCursor,
    Send,
)

NAMES = st.sampled_from(["ana", "bo", "cy"])


class Subscribers(RuleBasedStateMachine):
    """Queues with their shell, and what is in the log for whom."""

    @initialize(rng=RANDOMS)
    def start(self, rng: Random) -> None:
        self.rng = rng
        self.limits = QueueLimits(rng.randint(1, 6), rng.randint(1, 3))
        self.stored: dict[str, dict[int, tuple[str, ...]]] = {"ana": {}, "bo": {}, "cy": {}}
        self.left = {name: set[int]() for name in self.stored}  # not acknowledged
        self.saved = dict.fromkeys(self.stored, Cursor())
        self.published = self.committed = 0
        self.connections = count(1)
        self.begin()
        for name in rng.sample(sorted(self.stored), 2):
            self.open(name)

    def begin(self) -> None:
        self.queues = Queues(self.committed, self.published, self.limits)
        self.told = self.committed
        self.loads: dict[str, LoadNotifications] = {}
        self.connected: dict[str, int] = {}
        self.handed = {name: set[int]() for name in self.stored}
        self.in_flight = {name: set[int]() for name in self.stored}
        self.unsure = self.published

    # The shell.

    def perform(self, name: str, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            if isinstance(effect, LoadNotifications):
                assert name not in self.loads
                self.loads[name] = effect
            elif isinstance(effect, Send):
                assert effect.connection == self.connected[name]
                self.in_flight[name] |= {one.sequence for one in effect.notifications}
                self.receive(name, effect.notifications)
            else:
                assert isinstance(effect, SaveCursor)
                self.saved[name] = self.queues[name].cursor

    def receive(self, name: str, notifications: tuple[QueuedNotification, ...]) -> None:
        for one in notifications:
            assert one.sequence in self.left[name]
            assert one.subscription_ids == self.stored[name][one.sequence]
            assert one.redelivered == (
                one.sequence < self.unsure or one.sequence in self.handed[name]
            )
            self.handed[name].add(one.sequence)

    def answer(self, name: str) -> None:
        load = self.loads.pop(name)
        own = self.stored[name]
        there = sorted(one for one in own if load.start <= one < self.committed)
        given = there[: load.limit]
        more = len(there) > load.limit
        end = given[-1] + 1 if more else max(self.committed, load.start)
        loaded = self.queues[name].loaded(load.start, given, [own[one] for one in given], end)
        self.perform(name, loaded)

    def acknowledge(self, name: str, sequence: int) -> None:
        self.left[name] = {one for one in self.left[name] if one > sequence}
        self.in_flight[name] &= self.left[name]
        self.perform(name, self.queues[name].ack_through(sequence))

    # What happens.

    @rule(told=st.integers(0, 4))
    def publish(self, told: int) -> None:
        """A batch is matched; most often the queues are told what is in it."""
        first, end = self.told, self.told + self.rng.randint(1, 5)
        for sequence in range(max(first, self.published), end):
            for name in self.stored:
                if self.rng.random() < 0.3:
                    self.stored[name][sequence] = (name, "x")
                    self.left[name].add(sequence)
        self.published, self.told = max(self.published, end), end
        if told:
            items = {
                name: [(one, own[one]) for one in range(first, end) if one in own]
                for name, own in self.stored.items()
            }
            notified = self.queues.notified(first, end, {n: i for n, i in items.items() if i})
            for name, effects in notified.items():
                self.perform(name, effects)

    @rule()
    def commit(self) -> None:
        self.committed = self.rng.choice([self.told, self.rng.randint(self.committed, self.told)])
        for name, effects in self.queues.committed(self.committed).items():
            self.perform(name, effects)

    @rule(name=NAMES)
    def open(self, name: str) -> None:
        if name not in self.queues:
            self.queues.open(name, self.saved[name])

    @rule(name=NAMES)
    def connect(self, name: str) -> None:
        self.open(name)
        old, self.connected[name] = self.connected.get(name), next(self.connections)
        self.in_flight[name] = set()
        effects = self.queues.connect(name, self.connected[name])
        if old is not None:
            assert isinstance(effects[0], Close)
            effects = effects[1:]
            self.queues.disconnect(name, old)  # late: the new one is there
        self.perform(name, effects)

    @precondition(lambda self: self.connected)
    @rule()
    def disconnect(self) -> None:
        name = self.rng.choice(sorted(self.connected))
        self.queues.disconnect(name, self.connected.pop(name))
        self.in_flight[name] = set()

    @rule(name=NAMES, most=st.integers(1, 4))
    def pull(self, name: str, most: int) -> None:
        self.open(name)
        if name in self.loads:
            self.answer(name)
        while isinstance(got := self.queues[name].take(most), LoadNotifications):
            self.perform(name, (got,))
            self.answer(name)
        self.receive(name, got)
        sequences = [one.sequence for one in got]
        left = sorted(self.left[name])
        assert sequences == left[: len(got)]
        if name not in self.loads and len(got) < min(most, self.limits.held_max):
            assert not [one for one in left[len(got) :] if one < self.committed]
        if sequences and self.rng.random() < 0.5:
            self.acknowledge(name, sequences[-1])

    @precondition(lambda self: self.loads)
    @rule()
    def answer_one(self) -> None:
        self.answer(self.rng.choice(sorted(self.loads)))

    @rule(name=NAMES)
    def release(self, name: str) -> None:
        if name in self.queues:
            self.queues[name].release()

    @rule()
    def restart(self) -> None:
        if self.rng.random() < 0.2:
            self.begin()

    @rule()
    def settle(self) -> None:
        """Whoever is connected gets all that is committed by answering and acknowledging alone."""
        while busy := {*self.loads, *(name for name, sent in self.in_flight.items() if sent)}:
            for name in busy:
                if name in self.loads:
                    self.answer(name)
                if self.in_flight[name]:
                    self.acknowledge(name, max(self.in_flight[name]))
        for name in self.connected:
            assert not [one for one in self.left[name] if one < self.committed]


TestSubscribers = Subscribers.TestCase
TestSubscribers.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)

"""A broker made to be killed: `python -m tests.crash.broker_process`.

Arguments: the directory of the store, the folder of the ledger, which life this is, and `inline`
where this process matches too. It says `ready`; on a line `drain` it publishes no more, delivers
what is left, says `drained` and ends. It also ends when its standard input does.

Publishers go on after the last publication that an earlier life was told of, so what was stored and
not acknowledged is published again under its id. So does the script of changes.
"""

import itertools
import os
import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from threading import Event, Thread

from tests.crash.history import recording
from tests.crash.ledger import Ledger, file_of, read_facts
from tests.crash.small_segments import SMALL_OPTIONS
from tests.crash.world import (
    PUBLISHERS,
    SCHEMA,
    SUBSCRIBERS,
    attributes_of,
    publication_id,
    script,
)
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.core_limits import CoreLimits, Retention
from wherecast.broker.publisher import Publisher
from wherecast.broker.subscriber import Notification, Subscriber
from wherecast.model import Publication, StoreError
from wherecast.store.changes import compaction
from wherecast.store.clock import now_us
from wherecast.store.open_store import open_store

# Where this process matches, what everyone has acknowledged goes soon, after it was written to the
# ledger for the verdict. Otherwise the pipeline decides how long it stays.
_TRIMMED = Retention(every=timedelta(seconds=0.2))
_KEPT = Retention(every=timedelta(days=10_000))

BACKLOG_MAX = 400  # publications that are not matched yet; publishers wait then
_CALL_MAX = 40  # publications of one call
_SETUP = 12  # changes before the first publication
_CHANGE_EVERY = 25  # publications; often, so that changes are compacted
_PAUSE_S = 0.02
_BREATH_S = 0.2  # of a publisher, between two calls
_WAYS = ("through", "through", "some", "none")  # to acknowledge


class Life:
    """One life of the process."""

    def __init__(self, store: Path, folder: Path, life: int, is_inline: bool) -> None:
        self.draining, self.done, self._is_set_up = Event(), Event(), Event()
        self._draw = Random(f"life {life}")
        self._past = list(read_facts(folder))
        self._ledger = Ledger(file_of(folder, life))
        opened = open_store(store, options=SMALL_OPTIONS)
        opened.log.trim = recording(opened.log, self._ledger)  # type: ignore[method-assign]
        kept = _TRIMMED if is_inline else _KEPT
        self._core = BrokerCore(opened, SCHEMA, store, is_inline, CoreLimits(kept))
        self._core.check()
        for name in SUBSCRIBERS:
            self._core.registrar.register(name, now_us())
        self._subscribers = {name: Subscriber(name, self._core) for name in SUBSCRIBERS}

    def run(self) -> None:
        """Publishes and delivers until it is told to drain, and then until nothing is left."""
        receiving = [self._thread(self._receive, name) for name in SUBSCRIBERS[1:]]
        receiving.append(self._thread(self._feed, SUBSCRIBERS[0]))
        publishing = [self._thread(self._change)]
        self._is_set_up.wait()
        publishing += [self._thread(self._publish, name) for name in PUBLISHERS]
        self._say("ready")
        self.draining.wait()
        for thread in publishing:
            thread.join()
        while not self._is_drained():
            self.done.wait(_PAUSE_S)
        self.done.set()
        self._core.close()
        for thread in receiving:
            thread.join()
        self._say("drained")

    def _is_drained(self) -> bool:
        store = self._core.store
        return store.batches.progress().position == store.log.ends() and not any(
            subscriber.queued for subscriber in self._subscribers.values()
        )

    def _say(self, word: str) -> None:
        print(word, flush=True)

    def _thread(self, work: Callable[..., None], *arguments: str) -> Thread:
        thread = Thread(target=self._guarded, args=(work, *arguments), daemon=True)
        thread.start()
        return thread

    def _guarded(self, work: Callable[..., None], *arguments: str) -> None:
        """Runs a thread's work; a fault of the system ends the process with a trace."""
        try:
            work(*arguments)
        except BaseException:  # noqa: BLE001  # the edge of the process
            if not self.done.is_set():
                traceback.print_exc()
                os._exit(3)

    def _healed(self, call: Callable[[], object]) -> bool:
        """Whether a call did what it should; an error that heals is noted."""
        try:
            call()
        except StoreError as error:
            self._ledger.write("problem", str(error))
            self.done.wait(_PAUSE_S)
            return False
        return True

    # Publishing.

    def _publish(self, name: str) -> None:
        publisher, draw = Publisher(name, self._core), Random(f"{name} {self._draw.random()}")
        told = [fact for fact in self._past if fact[:2] == ["accepted", name]]
        first = max((fact[2] + fact[3] for fact in told), default=0)
        while not self.draining.is_set():
            if self._backlog() > BACKLOG_MAX:
                self.draining.wait(_PAUSE_S)
                continue
            # Some of what was acknowledged is published once more.
            again = min(draw.choice((0, 0, 0, 5)), first)
            count = again + draw.randint(1, _CALL_MAX)
            ids = [publication_id(name, first - again + place) for place in range(count)]
            given = [Publication(attributes_of(id), id) for id in ids]
            is_alone = draw.random() < 0.5
            self._ledger.write("trying", name, first - again, count)
            if not self._healed(lambda g=given, a=is_alone: self._accepted(publisher, g, a)):
                continue
            self._ledger.write("accepted", name, first - again, count)
            first += count - again
            self.draining.wait(draw.random() * _BREATH_S)

    def _accepted(self, publisher: Publisher, given: list[Publication], is_alone: bool) -> None:
        """Publishes, together or one by one."""
        for some in [[one] for one in given] if is_alone else [given]:
            done = publisher.publish(some[0]) if is_alone else publisher.publish_all(some)
            assert done.accepted + done.duplicates == len(some), done

    def _backlog(self) -> int:
        store = self._core.store
        return store.log.count(0, store.batches.progress().position[0], store.log.ends()[0])

    def _change(self) -> None:
        changed = [fact[1] for fact in self._past if fact[0] == "changed"]
        todo = itertools.dropwhile(lambda step: step.number <= max(changed, default=-1), script())
        before = self._published()
        for step in todo:
            if step.number >= _SETUP:
                self._is_set_up.set()
                while self._published() < before + _CHANGE_EVERY:
                    if self.draining.wait(_PAUSE_S):
                        return
            before = self._published()
            owner = self._subscribers[step.subscriber]
            self._ledger.write("changing", step.number)
            while not self._healed(
                lambda step=step, owner=owner: (
                    owner.subscribe(step.text, step.id) if step.text else owner.unsubscribe(step.id)
                )
            ):
                pass
            self._ledger.write("changed", step.number)

    def _published(self) -> int:
        return self._core.store.log.ends()[0]

    # Receiving.

    def _receive(self, name: str) -> None:
        """Pulls, and acknowledges in this way or that, or not at all."""
        subscriber, draw = self._subscribers[name], Random(f"{name} {self._draw.random()}")
        while not self.done.is_set():
            try:
                got = subscriber.take(draw.randint(1, 100), timeout=0.1)
            except StoreError as error:
                self._ledger.write("problem", str(error))
                self.done.wait(_PAUSE_S)
                continue
            self._note(name, got)
            if got:
                self._acknowledge(subscriber, got, draw)

    def _feed(self, name: str) -> None:
        """Has them pushed, by connections that are cut now and then; pulls the last ones."""
        subscriber, draw = self._subscribers[name], Random(f"{name} {self._draw.random()}")
        while not self.draining.is_set():
            with subscriber.feed() as feed:
                while (got := feed.read(timeout=0.1)) is not None and not self.draining.is_set():
                    self._note(name, got)
                    self._acked(subscriber, [one for one in got if draw.random() < 0.9])
                    if draw.random() < 0.05:
                        break
        self._receive(name)

    def _note(self, name: str, got: list[Notification]) -> None:
        rows = [(n.cursor, n.publication.id, n.subscription_ids, n.redelivered) for n in got]
        if rows:
            self._ledger.write("received", name, rows)

    def _acknowledge(self, subscriber: Subscriber, got: list[Notification], draw: Random) -> None:
        way = "through" if self.draining.is_set() else draw.choice(_WAYS)
        if way == "through" and self._healed(lambda: subscriber.ack_through(got[-1])):
            self._ledger.write("through", subscriber.name, got[-1].cursor)
        elif way == "some":
            self._acked(subscriber, draw.sample(got, draw.randint(1, min(len(got), 5))))

    def _acked(self, subscriber: Subscriber, some: list[Notification]) -> None:
        for one in some:
            if self._healed(one.ack):
                self._ledger.write("acked", subscriber.name, [one.cursor])


def obey(life: Life) -> None:
    """Does what the standard input says, and ends with it."""
    for line in sys.stdin:
        if line.strip() == "drain":
            life.draining.set()
    os._exit(4)


if __name__ == "__main__":
    compaction.CHANGES_MIN = 8
    store, folder, number, *rest = sys.argv[1:]
    life = Life(Path(store), Path(folder), int(number), rest == ["inline"])
    Thread(target=obey, args=(life,), daemon=True).start()
    life.run()

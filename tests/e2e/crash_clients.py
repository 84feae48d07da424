"""Plain clients of a server that is killed again and again: they retry, reconnect, and keep the
ledger of what they were told.

Concurrency: a thread per publisher and per subscriber, and one for the script of changes.
"""

import http.client
import itertools
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.crash.ledger import Ledger, file_of
from tests.crash.world import (
    PUBLISHERS,
    SUBSCRIBERS,
    Step,
    attributes_of,
    publication_id,
    script,
)

NDJSON = "application/x-ndjson"
PUBLISH = "/v1/streams/default/publications"
_AWAY = (OSError, http.client.HTTPException, WebSocketException)
_CALL_MAX = 40  # publications of one call
_SETUP = 12  # changes before the first publication
_CHANGE_EVERY = 150  # publications
_PAUSE_S = 0.05
_ANSWER_S = 20.0
_WAYS = ("through", "through", "some", "none")  # to acknowledge


class Clients:
    """Everyone who talks to a server.

    Attributes:
        ledger: what they were told.
        draining: set when no more is published.
        done: set when nobody receives any more.
        published: how many publications were accepted.
    """

    def __init__(self, port: int, folder: Path, seed: int) -> None:
        self.ledger = Ledger(file_of(folder, 0))
        self.draining, self.done, self._is_set_up = Event(), Event(), Event()
        self.published = self.received = 0
        self._port = port
        self._draw = Random(seed)
        self._faults: list[BaseException] = []
        self._publishing = [self._thread(self._change)]
        self._receiving: list[Thread] = []

    def start(self) -> None:
        """Begins; the first subscriptions are there when this returns."""
        for name in SUBSCRIBERS:
            self._persisting("PUT", f"/v1/subscribers/{name}")
        for thread in self._publishing:
            thread.start()
        self._is_set_up.wait()
        more = [self._thread(self._publish, name) for name in PUBLISHERS]
        self._publishing += more
        self._receiving = [self._thread(self._pushed, name) for name in SUBSCRIBERS[:2]]
        self._receiving += [self._thread(self._pulled, name) for name in SUBSCRIBERS[2:]]
        for thread in (*more, *self._receiving):
            thread.start()

    def drain(self, is_empty: Callable[[], bool], until: Callable[..., Any]) -> None:
        """Publishes no more, and receives what is left."""
        self.draining.set()
        for thread in self._publishing:
            thread.join(120)
        while not is_empty():  # it may take long, but it goes on
            before = self.received
            until("news", lambda before=before: self.received > before or is_empty(), 180)
        self.close()
        assert not self._faults, self._faults

    def close(self) -> None:
        """Ends all."""
        self.draining.set()
        self.done.set()
        self._is_set_up.set()
        for thread in (*self._publishing, *self._receiving):
            if thread.is_alive():
                thread.join(120)

    def call(self, method: str, path: str, body: Any = None, kind: str = "") -> tuple[int, Any]:
        """The status and the document of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_ANSWER_S)
        try:
            given = body if isinstance(body, bytes | None) else json.dumps(body).encode()
            headers = {} if body is None else {"Content-Type": kind or "application/json"}
            connection.request(method, path, given, headers)
            answer = connection.getresponse()
            content = answer.read()
            return answer.status, json.loads(content) if content else None
        finally:
            connection.close()

    def _persisting(
        self, method: str, path: str, body: Any = None, kind: str = ""
    ) -> tuple[int, Any]:
        """The answer to a call, which is made again while the server is away."""
        while True:
            try:
                status, document = self.call(method, path, body, kind)
                if status < 500:
                    return status, document
                self.ledger.write("problem", str(document))
            except _AWAY as error:
                self.ledger.write("problem", repr(error))
            if self.done.wait(_PAUSE_S):
                raise ConnectionError("the end came first")

    def _thread(self, work: Callable[..., None], *arguments: str) -> Thread:
        def guarded() -> None:
            try:
                work(*arguments)
            except BaseException as error:  # noqa: BLE001  # told at the end
                if not self.done.is_set():
                    self._faults.append(error)

        return Thread(target=guarded, daemon=True)

    # Publishing.

    def _publish(self, name: str) -> None:
        draw, first = Random(f"{name} {self._draw.random()}"), 0
        while not self.draining.is_set():
            again = min(draw.choice((0, 0, 0, 5)), first)  # what was accepted comes once more
            count = again + draw.randint(1, _CALL_MAX)
            ids = [publication_id(name, first - again + place) for place in range(count)]
            lines = [json.dumps({"attributes": attributes_of(id), "id": id}) for id in ids]
            self.ledger.write("trying", name, first - again, count)
            body = "\n".join(lines).encode()
            status, done = self._persisting("POST", PUBLISH, body, NDJSON)
            assert status in (200, 202), done
            assert done["accepted"] + done["duplicates"] == count, done
            self.ledger.write("accepted", name, first - again, count)
            first += count - again
            self.published += count - again
            self.draining.wait(draw.random() * 0.2)

    def _change(self) -> None:
        before = 0
        for step in script():
            if step.number >= _SETUP:
                self._is_set_up.set()
                while self.published < before + _CHANGE_EVERY:
                    if self.draining.wait(_PAUSE_S):
                        return
            before = self.published
            self.ledger.write("changing", step.number)
            self._changed(step)
            self.ledger.write("changed", step.number)

    def _changed(self, step: Step) -> None:
        path = f"/v1/subscribers/{step.subscriber}/subscriptions/{step.id}"
        if step.text:
            status, _ = self._persisting("PUT", path, {"filter": step.text})
            assert status in (200, 201)
        else:  # gone already where an earlier try had no answer
            assert self._persisting("DELETE", path)[0] in (204, 404)

    # Receiving.

    def _pulled(self, name: str) -> None:
        draw = Random(f"{name} {self._draw.random()}")
        path = f"/v1/subscribers/{name}"
        for _ in itertools.count():
            if self.done.is_set():
                return
            pull = f"{path}/notifications?max={draw.randint(1, 100)}&wait=1"
            _, document = self._persisting("GET", pull)
            got = document["notifications"]
            self._note(name, got)
            way = "through" if self.draining.is_set() else draw.choice(_WAYS)
            if got and way == "through":
                self._acknowledge(name, {"through": got[-1]["cursor"]})
            elif got and way == "some":
                some = draw.sample(got, draw.randint(1, min(len(got), 5)))
                self._acknowledge(name, {"cursors": [one["cursor"] for one in some]})

    def _acknowledge(self, name: str, wanted: dict[str, Any]) -> None:
        status, answer = self._persisting("POST", f"/v1/subscribers/{name}/ack", wanted)
        assert status == 204, answer
        self._confirmed(name, wanted)

    def _confirmed(self, name: str, wanted: dict[str, Any]) -> None:
        if "through" in wanted:
            self.ledger.write("through", name, wanted["through"])
        else:
            self.ledger.write("acked", name, wanted["cursors"])

    def _pushed(self, name: str) -> None:
        """Has them pushed over connections that are cut now and then."""
        draw = Random(f"{name} {self._draw.random()}")
        address = f"ws://127.0.0.1:{self._port}/v1/subscribers/{name}/push?batch=50&confirm=true"
        while not self.done.is_set():
            with suppress(*_AWAY), connect(address, open_timeout=_ANSWER_S) as socket:
                while not self.done.is_set():
                    with suppress(TimeoutError):
                        self._take(name, json.loads(socket.recv(0.2)), socket, draw)
                    if draw.random() < 0.02:
                        break
            self.done.wait(_PAUSE_S)

    def _take(self, name: str, message: dict[str, Any], socket: Any, draw: Random) -> None:
        if "acknowledged" in message:
            self._confirmed(name, message["acknowledged"])
            return
        got = message["notifications"]
        self._note(name, got)
        some = [one for one in got if self.draining.is_set() or draw.random() < 0.9]
        if some:
            socket.send(json.dumps({"cursors": [one["cursor"] for one in some]}))

    def _note(self, name: str, got: list[dict[str, Any]]) -> None:
        rows = [
            (one["cursor"], one["publication"]["id"], one["subscription_ids"], one["redelivered"])
            for one in got
        ]
        if rows:
            self.received += len(rows)
            self.ledger.write("received", name, rows)

"""A publisher over a WebSocket accepts acknowledgements only whole and in order."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

import orjson
import pytest

from wherecast.bench.measured import WrongResult
from wherecast.bench.server.publishing_socket import numbered, send_all

pytest.importorskip("websockets")
MESSAGES = [numbered(number, b'{"attributes":{"a":1}}') for number in range(3)]


@contextmanager
def answering(answers: Sequence[dict[str, object]]) -> Iterator[int]:
    """The port of a server that sends these answers once it has three messages."""
    from websockets.sync.server import ServerConnection, serve

    def answer(connection: ServerConnection) -> None:
        got = [orjson.loads(connection.recv()) for _ in MESSAGES]
        assert got == [{"n": number, "attributes": {"a": 1}} for number in range(3)]
        for each in answers:
            connection.send(orjson.dumps(each).decode())

    with serve(answer, "127.0.0.1", 0) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        try:
            yield server.socket.getsockname()[1]
        finally:
            server.shutdown()
            serving.join()


def test_all_are_acknowledged() -> None:
    with answering([{"acked": [0, 1]}, {"acked": [2]}]) as port:
        send_all(port, MESSAGES)


@pytest.mark.parametrize(
    "answers",
    [
        [{"acked": [0]}, {"n": 1, "error": {"message": "no"}}],
        [{"acked": [0, 2]}],
        [{"acked": [0]}, {"acked": [0]}],
    ],
    ids=["refused", "one left out", "one twice"],
)
def test_another_answer_ends_the_run(answers: list[dict[str, object]]) -> None:
    with answering(answers) as port, pytest.raises(WrongResult, match="the server answered"):
        send_all(port, MESSAGES)

"""`wherecast subscribe` without a server: what Ctrl-C does to it."""

import os
import signal
from typing import Any

import pytest

from wherecast.cli import subscribe
from wherecast.cli.subscribe import SubscribeOptions

OPTIONS = SubscribeOptions("ana", None, "cli", "default", None, None, as_json=True)
SHOWN = [{"cursor": f"c{number}"} for number in range(3)]


class Calls:
    """Notes what is called."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []

    def call(self, _: str, __: str, body: Any = None) -> tuple[int, Any]:
        self.bodies.append(body)
        return 204, {}


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_that_was_printed_when_ctrl_c_came_is_acknowledged(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[str] = []
    handler = signal.getsignal(signal.SIGINT)  # Spark may have put in its own

    def printing(line: str, flush: bool) -> None:
        assert flush
        printed.append(line)
        if len(printed) == place + 1:  # whoever reads the line sends it at once
            os.kill(os.getpid(), signal.SIGINT)

    remote = Calls()
    monkeypatch.setattr(subscribe, "print", printing, raising=False)
    with pytest.raises(KeyboardInterrupt):
        subscribe._show(remote, OPTIONS, SHOWN)  # type: ignore[arg-type]
    assert len(printed) == place + 1
    assert remote.bodies == [{"through": f"c{place}"}]
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_second_ctrl_c_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*_: object, **__: object) -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("it went on")

    remote = Calls()
    monkeypatch.setattr(subscribe, "print", stuck, raising=False)
    with pytest.raises(KeyboardInterrupt):
        subscribe._show(remote, OPTIONS, SHOWN)  # type: ignore[arg-type]
    assert remote.bodies == []

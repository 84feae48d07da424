"""`wherecast subscribe` without a server: what Ctrl-C does to it, and how errors are shown."""

import os
import signal
from typing import Any

import pytest

from wherecast.cli import subscribe
from wherecast.cli.remote import RefusedByServer
from wherecast.cli.subscribe import SubscribeOptions
from wherecast.language import Filter
from wherecast.model import FilterError, Schema
from wherecast.server.http.messages.error_messages import error_of

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


def test_all_problems_of_a_refused_filter_are_shown_with_their_places() -> None:
    text = "city = Oslo AND no > 4"
    with pytest.raises(FilterError) as caught:
        Filter(text, Schema.from_dict({"city": "string", "no2": "float"}))
    _, detail = error_of(caught.value)
    problems = [detail, *detail["others"]]
    refused = RefusedByServer(422, detail["code"], detail["message"], problems)
    assert str(subscribe._with_place(refused, text)) == (
        "unknown attribute Oslo; write 'Oslo' for a string\n"
        "  city = Oslo AND no > 4\n"
        "         ^\n"
        "unknown attribute no; did you mean no2?\n"
        "  city = Oslo AND no > 4\n"
        "                  ^"
    )

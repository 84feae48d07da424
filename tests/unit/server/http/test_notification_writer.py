"""Notifications as JSON: the same from memory and from the log, never much at once, never twice."""

import logging
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import orjson
import pytest

pytest.importorskip("fastapi")

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.delivery import QueuedNotification
from wherecast.server.http.notification_writer import NotificationWriter, WrittenNotifications
from wherecast.store.open_store import open_store

SCHEMA = wc.Schema.from_dict({"n": "int", "price": {"type": "decimal", "scale": 2}})
PAYLOAD = b"x" * 10_000
NAMES = ("ana", "bo", "cy", "di")


@pytest.fixture
def core() -> Iterator[BrokerCore]:
    """A core at which everybody gets everything."""
    made = BrokerCore(open_store("memory:"), SCHEMA)
    for name in NAMES:
        made.register(name)
        made.registrar.subscribe(wc.Subscription("s1", "n >= 0", name), 0)
    yield made
    made.close()


@pytest.fixture
def writer(core: BrokerCore) -> NotificationWriter:
    return NotificationWriter(core)


def handed(
    core: BrokerCore, count: int, payload: bytes = PAYLOAD
) -> tuple[QueuedNotification, ...]:
    """So many publications, published and handed out to ana."""
    core.publish([wc.Publication({"n": n}, payload=payload) for n in range(count)], "default")
    return taken(core, "ana", count)


def taken(core: BrokerCore, name: str, count: int) -> tuple[QueuedNotification, ...]:
    found: tuple[QueuedNotification, ...] = ()
    while len(found) < count:
        found = core.courier.take(name, count, 60)
    return found


def at_hand(
    writer: NotificationWriter, some: tuple[QueuedNotification, ...], bytes_max: int = 1 << 20
) -> WrittenNotifications:
    found = writer.at_hand(some, bytes_max)
    assert found is not None
    return found


def forget(core: BrokerCore) -> None:
    """Has the core read publications from the log."""
    core._cache._blocks.clear()
    core._cache._firsts.clear()


def test_from_memory_they_are_what_the_log_says(
    core: BrokerCore, writer: NotificationWriter
) -> None:
    some = handed(core, 3)
    there = at_hand(writer, some)
    forget(core)
    other = NotificationWriter(core)
    assert other.at_hand(some, 1 << 20) is None
    assert there == other.within("ana", some, 1 << 20)
    first = orjson.loads(there.each[0])
    assert list(first) == [
        "cursor", "stream", "offset", "publication", "subscription_ids", "redelivered",
    ]  # fmt: skip
    assert first["publication"]["attributes"] == {"n": 0}
    assert first["subscription_ids"] == ["s1"]
    assert first["redelivered"] is False


def test_they_are_few_and_not_much(core: BrokerCore, writer: NotificationWriter) -> None:
    some = handed(core, 17)
    assert writer.at_hand(some, 1 << 20) is None
    assert writer.at_hand((), 1 << 20) is None
    for found in (at_hand(writer, some[:16], 30_000), writer.within("ana", some, 30_000)):
        assert found.used == len(found.each) == 3
    assert at_hand(writer, some[:2], 1).used == 1


def test_a_publication_is_encoded_once_for_all_its_subscribers(
    core: BrokerCore, writer: NotificationWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = handed(core, 10)
    read: list[int] = []
    written: list[str] = []
    to_dict, at_hand_of = wc.Publication.to_dict, core.cached_publications

    def counted(publication: wc.Publication) -> dict[str, Any]:
        written.append(publication.id or "")
        return to_dict(publication)

    def looked_up(sequences: list[int]) -> Any:
        read.extend(sequences)
        return at_hand_of(sequences)

    monkeypatch.setattr(wc.Publication, "to_dict", counted)
    monkeypatch.setattr(core, "cached_publications", looked_up)
    each = {"ana": at_hand(writer, some).each}
    each |= {name: at_hand(writer, taken(core, name, 10)).each for name in NAMES[1:]}
    assert each["ana"] == each["bo"] == each["cy"] == each["di"]
    assert len(written) == len(read) == writer.encoded == 10


def test_what_is_kept_is_bounded(core: BrokerCore) -> None:
    writer = NotificationWriter(core, cache_bytes=50_000)
    some = handed(core, 50, payload=b"x" * 1_000)
    for _ in range(2):
        assert len(writer.within("ana", some, 1 << 30).each) == 50
        assert 0 < sum(map(len, writer._parts.values())) <= 50_000
    assert writer.encoded > 50
    large = NotificationWriter(core, cache_bytes=10_000)
    large.within("ana", some, 1 << 30)
    assert not large._parts


def test_a_decimal_is_written_as_a_string(core: BrokerCore, writer: NotificationWriter) -> None:
    core.publish([wc.Publication({"n": 1, "price": Decimal("12.50")})], "default")
    [one] = at_hand(writer, taken(core, "ana", 1)).each
    assert orjson.loads(one)["publication"]["attributes"] == {"n": 1, "price": "12.50"}


def test_what_cannot_be_written_is_lost_counted_and_logged_once(
    core: BrokerCore,
    writer: NotificationWriter,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    some = handed(core, 4)
    to_dict = wc.Publication.to_dict

    def odd(publication: wc.Publication) -> dict[str, Any]:
        found = to_dict(publication)
        return found | {"attributes": {"n": object()}} if publication.attributes["n"] < 2 else found

    monkeypatch.setattr(wc.Publication, "to_dict", odd)
    with caplog.at_level(logging.ERROR, "wherecast.http"):
        assert writer.at_hand(some, 1 << 20) is None
        found = writer.within("ana", some, 1 << 20)
        writer.within("bo", taken(core, "bo", 4), 1 << 20)
    assert [orjson.loads(one)["publication"]["attributes"]["n"] for one in found.each] == [2, 3]
    assert found.used == 4
    assert writer.unwritable == 4
    assert core.courier.figures("ana").lost == core.courier.figures("bo").lost == 2
    assert len(caplog.records) == 1
    assert len(core.courier.take("ana", 10, 0)) == 2

"""Publications are given back as they were published, from many entries and streams."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import wherecast as wc
from wherecast.broker.dispatch.publication_cache import PublicationCache, PublicationCacheLimits
from wherecast.broker.intake.intake import prepare
from wherecast.store.contracts import Log
from wherecast.store.memory.log import MemoryLog

SCHEMAS = {
    "air": wc.Schema.from_dict({"no2": "float", "city": "string", "seen": "timestamp"}),
    "any": wc.Schema((), open=True),
}
AT = datetime(2026, 1, 1, tzinfo=UTC)


def append(log: Log, stream: str, *given: wc.Publication) -> None:
    at = (AT - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    log.append(prepare(given, stream, SCHEMAS[stream]).good, at)


def cache_of(log: Log, **limits: int) -> PublicationCache:
    return PublicationCache(
        log,
        lambda: SCHEMAS,
        lambda partition, offset: f"made-{partition}-{offset}",
        PublicationCacheLimits(**limits),
    )


def test_each_comes_back_as_it_was() -> None:
    log = MemoryLog(1)
    sent = AT + timedelta(hours=1)
    append(log, "air", wc.Publication({"no2": 1.0, "seen": sent}, "a", b"x", sent))
    append(log, "any", wc.Publication({"n": 1, "ok": True}), wc.Publication({"s": "t", "n": "u"}))
    append(log, "air", wc.Publication({"city": "Zagreb"}), wc.Publication({}))
    got = cache_of(log).get(0, [0, 1, 2, 3, 4])
    assert [one and one.stream for one in got] == ["air", "any", "any", "air", "air"]
    assert [one and one.offset for one in got] == [0, 1, 2, 3, 4]
    assert [one and one.publication for one in got] == [
        wc.Publication({"no2": 1.0, "seen": sent}, "a", b"x", sent),
        wc.Publication({"n": 1.0, "ok": True}, "made-0-1", None, AT),
        wc.Publication({"s": "t", "n": "u"}, "made-0-2", None, AT),
        wc.Publication({"city": "Zagreb"}, "made-0-3", None, AT),
        wc.Publication({}, "made-0-4", None, AT),
    ]


@pytest.mark.parametrize(("stream", "more"), [("air", {"seen": AT}), ("any", {"ok": True})])
def test_many_come_back_as_each_does_alone(stream: str, more: dict[str, Any]) -> None:
    log = MemoryLog(1)
    kinds = ({"no2": 0.5, **more}, {"city": "Rijeka"}, {"no2": -1.0, "city": "ž"}, {})
    given = [
        wc.Publication(
            kinds[number % 4],
            f"p{number}" if number % 3 else None,
            b"x" * number if number % 5 else None,
            AT + timedelta(hours=number) if number % 2 else None,
        )
        for number in range(100)
    ]
    append(log, stream, *given)
    offsets = list(range(1, 100, 3))
    cache = cache_of(log)
    many = cache.get(0, offsets)
    assert many == [cache.get(0, [offset])[0] for offset in offsets]
    assert [one and one.publication.attributes for one in many] == [
        kinds[offset % 4] for offset in offsets
    ]


def test_duplicates_in_a_call_do_not_shift_the_others() -> None:
    log = MemoryLog(1)
    append(log, "air", wc.Publication({"no2": 1.0}, "a"))
    append(
        log,
        "air",
        wc.Publication({"no2": 1.0}, "a"),
        wc.Publication({"no2": 2.0}, "b"),
        wc.Publication({"no2": 9.0}, "a"),
        wc.Publication({"no2": 3.0}, "c"),
    )
    got = cache_of(log).get(0, [0, 1, 2])
    assert [one and one.publication.attributes["no2"] for one in got] == [1.0, 2.0, 3.0]
    assert [one and one.publication.id for one in got] == ["a", "b", "c"]


def test_some_offsets_of_many_entries() -> None:
    log = MemoryLog(1)
    count = 3 * PublicationCacheLimits().blocks_max  # more than are kept
    for number in range(count):
        append(log, "air", *(wc.Publication({"no2": float(3 * number + k)}) for k in range(3)))
    cache = cache_of(log)
    for offsets in (list(range(0, 3 * count, 5)), [3 * count - 1], [0, 1, 3 * count - 2]):
        got = cache.get(0, offsets)
        assert [one and one.publication.attributes["no2"] for one in got] == [
            float(offset) for offset in offsets
        ]


def test_what_was_put_is_at_hand_as_it_would_be_read() -> None:
    log = MemoryLog(1)
    append(log, "air", wc.Publication({"no2": 1.0}, "a"))
    given = [
        wc.Publication({"no2": 1.0}, "a"),
        wc.Publication({"no2": 2.0, "seen": AT}, "b", b"x"),
        wc.Publication({"city": "Split"}),
    ]
    prepared, at = prepare(given, "air", SCHEMAS["air"]), 7
    cache, read = cache_of(log), cache_of(log)
    cache.put(prepared.good, prepared.batch, log.append(prepared.good, at))
    assert cache.cached(0, [1, 2]) == read.get(0, [1, 2])
    assert cache.cached(0, [0, 1]) is None
    assert cache.cached(0, [2, 3]) is None
    cache.put(prepared.good, prepared.batch, log.append(prepared.good, at))
    assert cache.cached(0, [3]) == read.get(0, [3])  # the others came before


def test_what_was_put_holds_nothing_of_what_was_handed_in() -> None:
    log = MemoryLog(1)
    prepared = prepare([wc.Publication({"no2": 1.0})], "air", SCHEMAS["air"])
    cache = cache_of(log)
    cache.put(prepared.good, prepared.batch, log.append(prepared.good, 0))
    [block] = cache._blocks.values()
    for mine, given in zip(block.rows.columns, prepared.batch.columns, strict=True):
        addresses = {one.address for one in given.buffers() if one is not None and one.size}
        assert addresses.isdisjoint(one.address for one in mine.buffers() if one is not None)


@pytest.mark.parametrize(
    ("limits", "blocks"), [({}, 1), ({"columns_max": 2}, 1), ({"put_bytes_max": 10}, 0)]
)
def test_what_has_many_columns_or_is_large_is_left_to_readers(
    limits: dict[str, int], blocks: int
) -> None:
    log = MemoryLog(1)
    prepared = prepare([wc.Publication({"no2": 1.0})], "air", SCHEMAS["air"])
    cache = cache_of(log, **limits)
    cache.put(prepared.good, prepared.batch, log.append(prepared.good, 0))
    assert (cache.cached(0, [0]) is None) == bool(limits)
    assert len(cache._blocks) == blocks


@pytest.mark.parametrize("offsets", [[5], [0, 5], [5, 6]])
def test_what_is_not_there_is_none(offsets: list[int]) -> None:
    log = MemoryLog(1)
    append(log, "air", wc.Publication({"no2": 0.0}))
    got = cache_of(log).get(0, offsets)
    assert [one is None for one in got] == [offset > 0 for offset in offsets]


def test_what_is_kept_at_hand_is_bounded_in_bytes() -> None:
    log = MemoryLog(1)
    for number in range(10):
        append(log, "air", wc.Publication({"no2": float(number)}, payload=bytes(10_000)))
    cache = cache_of(log, bytes_max=35_000)
    assert len(cache.get(0, list(range(10)))) == 10
    assert cache._bytes <= 35_000
    assert 1 <= len(cache._blocks) <= 3
    assert cache._bytes == sum(block.size() for block in cache._blocks.values())

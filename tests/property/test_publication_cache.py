"""Whatever the cache has of the log, it gives what the log has, and it stays within its bounds."""

from random import Random
from typing import Any

import pytest

import wherecast as wc
from tests.seeds import random_of
from wherecast.broker.dispatch.publication_cache import PublicationCache, PublicationCacheLimits
from wherecast.broker.door.door_group import AppendedRow
from wherecast.broker.intake.intake import prepare
from wherecast.broker.intake.single_publication import SingleIntake, joined
from wherecast.store.memory.log import MemoryLog

SCHEMAS = {
    "air": wc.Schema.from_dict({"no2": "float", "city": "string", "n": "int", "ok": "bool"}),
    "any": wc.Schema((), open=True),
}
INTAKES = {stream: SingleIntake(stream, schema) for stream, schema in SCHEMAS.items()}


def publication(random: Random, number: int) -> wc.Publication:
    row: dict[str, Any] = {"n": number}
    if random.random() < 0.5:
        row |= {"no2": random.random(), "ok": random.random() < 0.5}
    if random.random() < 0.5:
        row["city"] = "é" * random.randrange(500)
    payload = bytes(random.randrange(300)) if random.random() < 0.3 else None
    return wc.Publication(row, f"id-{number}" if random.random() < 0.5 else None, payload)


class Feeding:
    """A log and the caches beside it: a small one that is fed, and one that only reads."""

    def __init__(self, random: Random, limits: PublicationCacheLimits) -> None:
        self.log, self.random, self.end = MemoryLog(1), random, 0
        self.fed = self._cache(limits)

    def _cache(self, limits: PublicationCacheLimits) -> PublicationCache:
        return PublicationCache(self.log, lambda: SCHEMAS, lambda _, at: f"made-{at}", limits)

    def read(self, offsets: list[int]) -> list[Any]:
        return self._cache(PublicationCacheLimits()).get(0, offsets)

    def append_rows(self, count: int) -> None:
        """Rows that came alone, of a stream or several; some never reach the cache."""
        rows: list[AppendedRow] = []
        while len(rows) < count:
            stream = self.random.choice(list(INTAKES))
            given = [publication(self.random, self.end + at) for at in range(count - len(rows))]
            singles = [INTAKES[stream].read(one, "p") for one in given[: self.random.randint(1, 9)]]
            good = [one for one in singles if one is not None]
            assert len(good) == len(singles)
            receipt = self.log.append(joined(good), self.end)
            offsets = receipt.offsets.tolist()
            rows += [AppendedRow(*both, receipt.at) for both in zip(good, offsets, strict=True)]
            self.end = offsets[-1] + 1
        if self.random.random() < 0.2:  # as where a tick stands between them
            del rows[self.random.randrange(len(rows))]
        self.fed.put_rows(rows)

    def append_list(self, count: int) -> None:
        given = [publication(self.random, self.end + at) for at in range(count)]
        prepared = prepare(given, "air", SCHEMAS["air"], publisher="p")
        receipt = self.log.append(prepared.good, self.end)
        if self.random.random() < 0.8:
            self.fed.put(prepared.good, prepared.batch, receipt)
        self.end += count


@pytest.mark.parametrize("job", range(2))
@pytest.mark.parametrize("is_small", [False, True])
def test_the_cache_gives_what_the_log_has(job: int, is_small: bool) -> None:
    random = random_of(f"cache {job} {is_small}")
    limits = PublicationCacheLimits(*((4, 40_000) if is_small else ()))
    feeding = Feeding(random, limits)
    for _ in range(30):
        kind = random.random()
        if kind < 0.6:
            feeding.append_rows(random.choice([1, 1, 1, 2, 30]))
        elif kind < 0.7:
            feeding.append_list(random.randint(1, 5))
        elif kind < 0.75:
            feeding.append_rows(300)  # more than a block has
        offsets = sorted(random.sample(range(feeding.end), min(feeding.end, 20)))
        wanted = feeding.read(offsets)
        got = feeding.fed.get(0, offsets)
        assert got == wanted
        assert [one and repr(sorted(one.publication.attributes.items())) for one in got] == [
            one and repr(sorted(one.publication.attributes.items())) for one in wanted
        ]
        for one in got:  # a receiver may do with it what it likes
            assert one is not None
            one.publication.attributes["n"] = "changed"  # type: ignore[index]
        assert feeding.fed.get(0, offsets) == wanted
        cached = feeding.fed.cached(0, offsets)
        assert cached is None or cached == wanted
        if is_small:
            assert len(feeding.fed._blocks) <= 4
        sizes = [block.size() for block in feeding.fed._blocks.values()]
        assert feeding.fed._bytes == sum(sizes)
        assert sum(sizes) <= limits.bytes_max or len(sizes) == 1

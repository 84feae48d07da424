"""`match_one` gives what `match` gives for a list of one, on rows and filters that are odd."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from tests.property.odd_rows import odd_row
from tests.property.strategies import Grammar, fill, make_row, make_schema, make_template
from tests.seeds import random_of
from tests.ways import take
from wherecast import Index, PublicationError, Schema
from wherecast.columns import decode_rows
from wherecast.workloads import WORKLOADS

ONE_WAYS = ("columns", "flat", "trees")
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
WIDE = Schema.from_dict(
    {
        "f": "float", "g": {"type": "float", "min": 0, "max": 100},
        "h": {"type": "float", "min": 0, "step": 0.25}, "i": "int",
        "j": {"type": "int", "min": -4, "max": 20, "step": 3}, "s": "string",
        "t": {"type": "string", "values": ["a", "b", "é"]}, "b": "bool", "at": "timestamp",
        "day": "date", "d": {"type": "decimal", "scale": 2}, "n.x": "float", "n.y.z": "string",
        "tags": "array<string>", "ids": "array<int>", "sizes": "array<float>",
    }
)  # fmt: skip
FILTERS = [
    "array_contains(tags, 'a')", "arrays_overlap(tags, array('a', 'b')) AND f > 1",
    "NOT array_contains(tags, 'a')", "tags IS NULL", "size(tags) > 1 OR s = 'a'",
    "array_contains(ids, 2) AND (i > 1 OR f < 5)", "array_contains(sizes, 0.0)",
    "array_contains(sizes, 1.5) OR array_contains(tags, 'x')",
    "f / i > 1", "f / i > 1 OR s LIKE 'a%'",
    "at < now()", "at > now() - INTERVAL 1 DAY AND i > 0", "lower(s) = 'a'",
    "s < t", "f > g OR h = i",
    "s RLIKE '^a+$' AND f > 0", "geo_distance(f, g, 45.8, 15.9) < 500000", "i % 2 = 0 OR b",
    "day >= DATE '2026-05-01'", "d > 1.5 AND (d < 10 OR s = 'a')", "length(s) > 3 AND n.x > 1",
    "i IN (0, 1, 2, 3, 5, 7) AND s NOT IN ('a', 'b')",
    "n.y.z IS NULL", "f + g * h < 100 OR f IS NULL",
]  # fmt: skip


def assert_same(index: Index, rows: Sequence[Any]) -> int:
    """Compares all rows; returns the number of good ones."""
    bad = {one.row for one in decode_rows(rows, index.schema).rejected}
    good = [row for number, row in enumerate(rows) if number not in bad]
    wanted = iter(index.match(good, NOW).to_pylist())
    for number, row in enumerate(rows):
        if number not in bad:
            found = index.match_one(row, NOW)
            assert sorted(found) == next(wanted), row  # type: ignore[type-var]
            continue
        with pytest.raises(PublicationError) as refused:
            index.match_one(row, NOW)
        if number % 8 == 0:
            with pytest.raises(PublicationError) as expected:
                index.match([row], NOW)
            assert refused.value.problems == expected.value.problems
    return len(good)


def odd_filters(rng: Random, schema: Schema, count: int) -> list[str]:
    """Filters on the attributes of a schema that are no arrays, one in four times distances too.

    Where there are distances, most rows are off the globe, and are left to the batch.
    """
    plain = Schema(tuple(one for one in schema if one.element is None))
    grammar = Grammar(geo=rng.random() < 0.25)
    return [
        fill(rng, make_template(rng, plain, grammar)) for _ in range(count if len(plain) else 0)
    ]


def compared(
    workload: str, rng: Random, filters: int, rows: int, schema: Schema | None = None
) -> tuple[int, Index]:
    """Compares odd rows with the filters of a workload and odd filters."""
    drawn = WORKLOADS[workload]()
    index = Index(drawn.schema)
    texts = chain.from_iterable(b.column("filter").to_pylist() for b in drawn.filters(filters))
    index.add_all(enumerate([*texts, *odd_filters(rng, drawn.schema, filters // 4)]), "skip")
    plain = chain.from_iterable(b.to_pylist() for b in drawn.publications(rows))
    some = [{n: v for n, v in row.items() if v is not None or rng.random() < 0.1} for row in plain]
    good = assert_same(index, [odd_row(rng, drawn.schema, row) for row in some])
    return good, index


@pytest.mark.parametrize("workload", WORKLOADS)
def test_it_gives_what_match_gives(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random_of(workload)
    take(rng.choice(ONE_WAYS), monkeypatch)
    good, _ = compared(workload, rng, 200, 100)
    assert good > 40


@pytest.mark.parametrize("workload", sorted(set(WORKLOADS) - {"mixed", "rules"}))
def test_ordinary_rows_need_no_batch(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take(random_of(workload).choice(ONE_WAYS), monkeypatch)
    drawn = WORKLOADS[workload]()
    index = Index(drawn.schema)
    index.add_all(pa.Table.from_batches(drawn.filters(200)))
    assert assert_same(index, next(drawn.publications(60)).to_pylist()) == 60
    assert index.stats()["rows_matched_one_by_one"] == 60


@pytest.mark.parametrize("way", ONE_WAYS)
@pytest.mark.parametrize("is_open", [False, True])
def test_every_type_with_odd_filters(
    way: str, is_open: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(way, monkeypatch)
    rng, schema = random_of((way, is_open)), Schema(WIDE.attributes, is_open)
    index = Index(schema)
    index.add_all(enumerate([*FILTERS, *odd_filters(rng, schema, 100)]), "skip")
    assert_same(index, [odd_row(rng, schema, make_row(rng, schema)) for _ in range(200)])


@pytest.mark.parametrize("way", ONE_WAYS)
def test_drawn_schemas(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take(way, monkeypatch)
    rng = random_of(way)
    for _ in range(6):
        schema = make_schema(rng, domains=True)
        index = Index(schema)
        index.add_all(enumerate(odd_filters(rng, schema, 40)), "skip")
        assert_same(index, [odd_row(rng, schema, make_row(rng, schema)) for _ in range(40)])


@pytest.mark.soak("match-one")
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_million_rows(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    good = singles = 0
    for job in range(20):
        take(("trees", "trees", "flat", "columns")[job % 4], monkeypatch)
        found, index = compared(workload, random_of((workload, job)), 1_000, 4_550)
        good, singles = good + found, singles + index.stats()["rows_matched_one_by_one"]
    print(f"{workload}: 91,000 odd rows, {good:,} of them good, {singles:,} without a batch")

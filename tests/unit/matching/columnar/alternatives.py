"""Filters with OR, and publications on their bounds: what many conjunctions find together."""

from random import Random
from typing import Any

import pyarrow as pa

from wherecast import Index, Schema

SCHEMA = Schema.from_dict(
    {"city": "int", "no2": "float", "pm10": "float", "hour": "int", "name": "string"}
)
NAMES = ("ada", "bea", "cid", "dan")
TYPES = {"float": pa.float64(), "int": pa.int64(), "string": pa.string()}


def predicate(rng: Random) -> str:
    """A predicate of any kind on small numbers, so that publications meet its bounds."""
    value = rng.randrange(6)
    return rng.choice(
        [
            f"no2 > {value}",
            f"pm10 <= {value}",
            f"pm10 > {value}",
            f"no2 BETWEEN {value} AND {value + 2}",
            f"hour <> {value}",
            f"hour IN ({value}, {value + 1}, {value + 3})",
            f"hour NOT IN ({value}, {value + 1})",
            f"name = '{rng.choice(NAMES)}'",
            f"name LIKE '%{rng.choice('abdxn')}%'",
            "no2 IS NULL",
            "name IS NOT NULL",
            "no2 < pm10",
        ]
    )


def alternatives(rng: Random, plain: bool = False) -> str:
    """An AND of ORs, or an OR of ANDs; with `plain`, of ranges only."""
    value = rng.randrange(6)
    draw = [f"no2 > {value}", f"pm10 > {value}", f"hour < {value}", f"pm10 <= {value}"]
    clauses = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        parts = [rng.choice(draw) if plain else predicate(rng) for _ in range(rng.randint(1, 3))]
        clauses.append(f"({' OR '.join(parts)})")
    if rng.random() < 0.5:
        clauses.insert(0, f"city = {rng.randrange(4)}")
    return (" OR " if not plain and rng.random() < 0.2 else " AND ").join(clauses)


def publication(rng: Random) -> dict[str, Any]:
    """Small numbers, some between two bounds; a fifth of the values are missing."""
    drawn = {
        "city": rng.randrange(4),
        "no2": rng.randrange(14) / 2,
        "pm10": rng.randrange(14) / 2,
        "hour": rng.randrange(8),
        "name": rng.choice(NAMES),
    }
    return {name: value for name, value in drawn.items() if rng.random() < 0.8}


def batch_of(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    """Publications as a record batch."""
    columns = [pa.array([row.get(each.name) for row in rows], TYPES[each.type]) for each in SCHEMA]
    return pa.record_batch(columns, names=[each.name for each in SCHEMA])


def expected(texts: list[str], batch: pa.RecordBatch) -> list[list[int]]:
    """What the reference index finds."""
    reference = Index(SCHEMA, kind="scan")
    reference.add_all(enumerate(texts))
    return reference.match(batch).to_pylist()  # type: ignore[return-value]

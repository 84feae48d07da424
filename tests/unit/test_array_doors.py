"""A schema with arrays through every door: each carries arrays that no filter names."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import wherecast as wc
from tests.unit.broker.brokers import LIMIT_S, taken
from wherecast.cli.entry import run
from wherecast.columns import decode_json, decode_ndjson, decode_rows, read_arrow, rows_of
from wherecast.matching.kinds import KINDS

TYPES = {
    "n": "int",
    "tags": "array<string>",
    "sensor.counts": "array<int>",
    "levels": "array<float>",
}
SCHEMA = wc.Schema.from_dict(TYPES)
ROWS: list[dict[str, Any]] = [
    {"n": 1, "tags": ["a", None, "čaj"], "sensor.counts": [1, 2**53 + 1], "levels": [0.5, None]},
    {"n": 2, "tags": [], "levels": [1.0]},
    {"n": 3},
    {"n": 4, "tags": [None], "sensor.counts": []},
]
CANONICAL = [
    {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    for row in ROWS
]
FILTERS = {"low": "n < 3", "high": "n >= 3", "some": "n IN (1, 4) OR n > 100"}
MATCHES = [["low", "some"], ["low"], ["high"], ["high", "some"]]
COLUMNS: dict[str, list[Any]] = {name: [row.get(name) for row in ROWS] for name in TYPES}


def test_every_reader_gives_the_same_rows() -> None:
    text = [json.dumps(row).encode() for row in ROWS]
    nested = [{**row, "sensor": {"counts": row.get("sensor.counts")}} for row in ROWS]
    for row in nested:
        row.pop("sensor.counts", None)
    for decoded in (
        decode_rows(ROWS, SCHEMA),
        decode_rows(nested, SCHEMA),
        decode_json(b"[" + b",".join(text) + b"]", SCHEMA),
        decode_ndjson(b"\n".join(text), SCHEMA),
        read_arrow(pa.table(COLUMNS), SCHEMA),
        read_arrow(pd.DataFrame(COLUMNS), SCHEMA),
        read_arrow(pl.DataFrame(COLUMNS), SCHEMA),
    ):
        assert not decoded.rejected
        assert rows_of(decoded.batch, SCHEMA) == CANONICAL
    assert [SCHEMA.read(row) for row in ROWS] == CANONICAL


def test_a_schema_comes_back_from_its_text() -> None:
    assert SCHEMA.to_dict() == TYPES
    assert wc.Schema.from_json(SCHEMA.to_json()) == SCHEMA
    listed = "\n".join(f'"{name}" = "{kind}"' for name, kind in TYPES.items())
    assert wc.Schema.from_toml(f"[attributes]\n{listed}") == SCHEMA
    assert wc.Schema.from_arrow(read_arrow(pa.table(COLUMNS), SCHEMA).batch.schema) == SCHEMA


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_index_passes_arrays_over(kind: str) -> None:
    index = wc.Index(SCHEMA, kind=kind)
    for name, text in FILTERS.items():
        index.add(name, text)
    for given in (ROWS, pa.table(COLUMNS), pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS)):
        assert [sorted(ids) for ids in index.match(given).to_pylist()] == MATCHES


def test_a_filter_explains_its_verdict_beside_arrays() -> None:
    assert wc.Filter("n = 1", SCHEMA).explain(ROWS[0]).matched
    with pytest.raises(wc.PublicationError, match=r"attribute tags\[1\]: needs a string") as caught:
        wc.Filter("n = 1", SCHEMA).matches({"n": 1, "tags": ["a", 2]})
    assert caught.value.problems[0].element == 1


@pytest.mark.parametrize("data", [None, "store"], ids=["memory", "durable"])
def test_a_broker_delivers_what_was_published(data: str | None, tmp_path: Path) -> None:
    folder = None if data is None else tmp_path / data
    with wc.Broker(SCHEMA, data=folder) as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("n > 0")
        given = [wc.Publication(row, id=f"p{row['n']}") for row in ROWS]
        bad = wc.Publication({"n": 9, "tags": ["a", 2]})
        outcome = broker.publisher("station").publish_all([*given, bad])
        assert (outcome.accepted, outcome.rejected) == (4, 1)
        [(row, error)] = outcome.errors
        assert (row, error.problems[0].attribute, error.problems[0].element) == (4, "tags", 1)
        again = broker.publisher("station").publish_all(given)
        assert again.duplicates == 4
        changed = [wc.Publication({**ROWS[0], "tags": ["a", "čaj", None]}, id="p1")]
        assert broker.publisher("station").publish_all(changed).rejected == 1
        if folder is None:
            assert [one.publication.attributes for one in taken(ana, 4)] == ROWS
    if folder is not None:
        with wc.Broker(SCHEMA, data=folder) as broker:
            found = taken(broker.subscriber("ana"), 4)
            assert [one.publication.attributes for one in found] == ROWS


def test_an_async_broker_delivers_what_was_published() -> None:
    async def deliver() -> list[Any]:
        async with wc.AsyncBroker(SCHEMA) as broker:
            ana = await broker.subscriber("ana")
            await ana.subscribe("n > 0")
            await (await broker.publisher("station")).publish(ROWS[0])
            return [one.publication.attributes for one in await ana.take(1, timeout=LIMIT_S)]

    assert asyncio.run(deliver()) == ROWS[:1]


@pytest.mark.parametrize("source", ["jsonl", "parquet"])
@pytest.mark.parametrize("target", ["jsonl", "parquet", "csv"])
@pytest.mark.parametrize("with_schema", [True, False])
def test_files_carry_arrays(source: str, target: str, with_schema: bool, tmp_path: Path) -> None:
    given, wanted = tmp_path / f"in.{source}", tmp_path / f"out.{target}"
    if source == "jsonl":
        given.write_text("\n".join(map(json.dumps, ROWS)))
    else:
        pq.write_table(pa.table(COLUMNS), given)
    filters, schema = tmp_path / "filters.csv", tmp_path / "schema.toml"
    filters.write_text("id,filter\nhigh,n >= 3\nfirst,n = 1\n")
    schema.write_text("[attributes]\n" + "\n".join(f'"{n}" = "{t}"' for n, t in TYPES.items()))
    options = ["--schema", str(schema)] if with_schema else []
    files = ["--filters", filters, "--publications", given, "--output", wanted]
    assert run(["match", *map(str, files), "--runner", "inline", *options]) == 0
    if target == "jsonl":
        [first, *_] = map(json.loads, wanted.read_text().splitlines())
        assert first["tags"] == ["a", None, "čaj"]
        assert first["sensor"] == {"counts": [1, 2**53 + 1]}
    elif target == "parquet":
        rows = pq.read_table(wanted).select([*TYPES, "filter_id"]).to_pylist()
        whole = [dict.fromkeys(TYPES) | ROWS[place] for place in (0, 2, 3)]
        assert [{k: v for k, v in row.items() if k != "filter_id"} for row in rows] == whole
    else:
        assert '"[""a"",null,""čaj""]"' in wanted.read_text()

"""Tables of filters: what is kept, what is refused, what travels."""

import pickle
from typing import Any

import pyarrow as pa
import pytest

from wherecast import ConfigError, FilterError, Schema
from wherecast.columns import decode_rows
from wherecast.matching import IndexParts
from wherecast.pipeline.filters import filter_table
from wherecast.pipeline.filters.loaded_filters import (
    compile_filters,
    compile_part,
)

SCHEMA = Schema.from_dict({"no2": {"type": "float", "max": 1000}, "city": "string", "n": "int"})


def read(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    return decode_rows(rows, SCHEMA).batch


def table(ids: Any, texts: list[str | None], **kept: list[Any]) -> pa.Table:
    return pa.table({"id": ids, "filter": pa.array(texts, pa.string()), **kept})


def test_filters_are_sorted_by_id_with_what_is_kept() -> None:
    given = table(["b", "a"], ["no2 > 1", "n = 1"], mail=["b@x", "a@x"])

    compiled, rejected = compile_filters(given, SCHEMA)

    assert rejected == []
    assert compiled.ids.to_pylist() == ["a", "b"]
    assert compiled.kept.to_pydict() == {"mail": ["a@x", "b@x"]}
    assert compiled.parts.match(read([{"n": 1}])).indices.tolist() == [0]


def test_columns_may_be_kept_whatever_their_names() -> None:
    given = pa.Table.from_arrays([["a"], ["n = 1"], ["n = 1"], [7]], ["k", "t", "filter", "id"])

    compiled, _ = compile_filters(given, SCHEMA)

    assert compiled.kept.to_pydict() == {"filter": ["n = 1"], "id": [7]}


def test_publications_are_read_with_what_the_filters_name_or_with_all_that_is_declared() -> None:
    given = table([1, 2], ["NO2 > 1", "city = 'x' AND no2 < 3"])

    free, _ = compile_filters(given, SCHEMA)
    strict, _ = compile_filters(given, SCHEMA, enforced=True)

    assert free.schema.names == ("no2", "city")
    assert strict.schema == SCHEMA
    assert [attribute.name for attribute in free.named] == ["city", "no2"]


def test_filters_that_were_read_apart_are_the_same_together() -> None:
    texts = ["n = 1", "no2 > 5 OR city LIKE 'Z%'", "n IN (1, 2)", "city = 'x'", "n >"]
    given = table([5, 1, 4, 2, 3], texts, mail=["e", "a", "d", "b", "c"])
    parts = [filter_table.read(given.slice(start, 2), SCHEMA) for start in (0, 2, 4)]
    parts = [pickle.loads(pickle.dumps(part)) for part in parts]

    one, rejected = filter_table.assemble(parts, SCHEMA, "skip")
    whole, _ = compile_part(given, SCHEMA, "skip")

    assert one.part.ids.to_pylist() == whole.part.ids.to_pylist() == [1, 2, 4, 5]
    assert one.texts.equals(whole.texts)
    assert one.kept.equals(whole.kept)
    assert one.kept.to_pydict() == {"mail": ["a", "b", "d", "e"]}
    assert [bad.id for bad in rejected] == [3]
    batch = read([{"n": 1, "city": "Zagreb"}, {"n": 2, "city": "x"}])
    assert IndexParts([one.part]).match(batch).to_pylist() == [[1, 4, 5], [2, 4]]


def test_ids_beyond_64_bits_are_refused() -> None:
    given = table(pa.array([2**63], pa.uint64()), ["n = 1"])

    with pytest.raises(ConfigError, match="at most 64 bits"):
        compile_filters(given, SCHEMA)


def test_bad_filters_are_named_with_their_count() -> None:
    given = table(["a", "b", "c", None, "e"], ["n >", "m = 1", "n = 1", "n = 1", None])

    with pytest.raises(FilterError) as caught:
        compile_filters(given, SCHEMA)
    compiled, rejected = compile_filters(given, SCHEMA, on_bad="skip")

    told = str(caught.value)
    assert told.startswith("4 filters cannot be used: 'a': ")
    assert told.endswith("'e': the filter is null; and 1 more")
    assert compiled.ids.to_pylist() == ["c"]
    assert [(bad.id, bad.filter, bad.position) for bad in rejected] == [
        ("a", "n >", 2),
        ("b", "m = 1", 0),
        ("e", None, None),
        (None, "n = 1", None),
    ]


@pytest.mark.parametrize("on_bad", ["raise", "skip"])
def test_ids_occur_once(on_bad: Any) -> None:
    with pytest.raises(ConfigError, match=r"^1 id occurs more than once: 1 3 times$"):
        compile_filters(table([1, 1, 2, 1, None, None], ["n >"] * 6), SCHEMA, on_bad=on_bad)

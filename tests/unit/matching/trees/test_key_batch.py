"""Keys of publications: one row each, whatever the chunk."""

import numpy as np
import pyarrow as pa

from tests.unit.matching.trees.stores import SCHEMA, store_of
from wherecast.columns import arrow_schema
from wherecast.language.meaning.keys import float_key
from wherecast.matching.trees.key_batch import BatchKeys


def test_keys_of_all_types() -> None:
    store = store_of("a > 1 AND b = 2 AND s = 'x' AND t = 'mid'")
    names = [a.name for a in store.slots.attributes]
    rows = [{"a": 1.5, "b": -7, "s": "x", "t": "top"}, {"a": None, "s": "strange"}, {}]
    batch = pa.RecordBatch.from_pylist(rows, arrow_schema(SCHEMA))
    keys = BatchKeys(batch, store.slots, store.leaves).chunk(0, 3)
    first = dict(zip(names, keys.keys[0].tolist(), strict=True))
    assert first["a"] == float_key(1.5)
    assert (first["b"], first["t"]) == (-7, 3)
    assert first["s"] == store.slots.constant_key(names.index("s"), "x")
    there = dict(zip(names, keys.there[1].tolist(), strict=True))
    assert there == {"a": 0, "b": 0, "s": 1, "t": 0}
    assert keys.keys[1, names.index("s")] == -1
    assert not keys.there[2].any()
    assert not keys.any_odd


def test_chunks_are_parts_of_the_whole() -> None:
    store = store_of("a > 1 AND b = 2")
    rows = [{"a": n / 3, "b": None if n % 3 else n} for n in range(50)]
    batch = pa.RecordBatch.from_pylist(rows, arrow_schema(SCHEMA)).slice(3)
    whole = BatchKeys(batch, store.slots, store.leaves)
    parts = [whole.chunk(begin, begin + 1) for begin in range(47)]
    assert (np.concatenate([part.keys for part in parts]) == whole.chunk(0, 47).keys).all()
    assert (np.concatenate([part.there for part in parts]) == whole.chunk(0, 47).there).all()


def test_positions_off_the_globe_are_odd() -> None:
    store = store_of("geo_distance(lat, lon, 45.0, 15.0) < 1000")
    rows = [{"lat": 91.0, "lon": 0.0}, {"lat": 90.0, "lon": -180.0}, {"lon": 181.0}, {}]
    batch = pa.RecordBatch.from_pylist(rows, arrow_schema(SCHEMA))
    assert BatchKeys(batch, store.slots, store.leaves).chunk(0, 4).odd.tolist() == [1, 0, 1, 0]


def test_filters_without_attributes() -> None:
    store = store_of("TRUE")
    batch = pa.RecordBatch.from_pylist([{}, {}], arrow_schema(SCHEMA))
    assert BatchKeys(batch, store.slots, store.leaves).chunk(0, 2).keys.shape == (2, 1)

import uuid

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wherecast.store.ids.publication_ids import (
    generated_id,
    hash_id,
    hash_ids,
    hash_keys,
    parse_generated,
)


def test_what_was_generated_is_parsed() -> None:
    assert generated_id("9f2c", 3, 10**12) == "9f2c-3-1000000000000"
    assert parse_generated("9f2c-3-1000000000000", "9f2c") == (3, 10**12)


OTHERS = [
    *("", "9f2c", "9f2c-", "9f2c-1", "9f2c-1-", "9f2c-01-1", "9f2c-1-01", "9f2c-1-1-1", "9f2d-1-1"),
    *("9f2c--1-1", "9f2c-1--1", "9f2c-1-1 ", "9f2c-1-1\n", "9f2c-1-١", "x9f2c-1-1", "9F2C-1-1"),
    "9f2c-1-1" + "0" * 20,
]


@pytest.mark.parametrize("id", OTHERS)
def test_other_ids_are_not_parsed(id: str) -> None:
    assert parse_generated(id, "9f2c") is None


def test_hashes_last() -> None:
    """They are stored, so they may not change."""
    ids = pa.array(["", "a", "b", "aa", None, "ž-1"])
    assert [f"{value:016x}" for value in hash_ids(ids).tolist()] == [
        "0000000000000001",
        "ee8c2baf6343e5c3",
        "dc4c613d9eba2304",
        "80495865dcc60c9d",
        "0000000000000000",
        "a8cd8069132660bf",
    ]


def test_hashes_of_many_differ() -> None:
    ids = [f"{number}" for number in range(100_000)]
    ids += [f"sensor-{number:08d}" for number in range(100_000)]
    ids += ["\0" * number for number in range(100)]
    ids += [str(uuid.UUID(int=number << 64)) for number in range(1000)]
    assert len(set(hash_ids(pa.array(ids)).tolist())) == len(ids)


@given(st.lists(st.one_of(st.none(), st.text(max_size=5)), max_size=20), st.integers(0, 20))
def test_a_hash_is_of_its_id_alone(ids: list[str | None], start: int) -> None:
    array = pa.array(ids, pa.string())
    whole = hash_ids(array).tolist()
    assert hash_ids(array.slice(start)).tolist() == whole[start:]
    for id, value in zip(ids, whole, strict=True):
        assert hash_ids(pa.array([id], pa.string())).tolist() == [value]
        assert id is None or hash_id(id.encode()) == value
        assert (value == 0) == (id is None)


_NAME = st.one_of(st.none(), st.text(max_size=3))


@given(st.lists(st.tuples(_NAME, _NAME), min_size=1, max_size=40), st.text(max_size=3))
def test_the_hash_of_a_key_is_of_it_alone(
    keys: list[tuple[str | None, str | None]], stream: str
) -> None:
    publishers, ids = (pa.array(column, pa.string()) for column in zip(*keys, strict=True))
    whole = hash_keys(stream, publishers, ids).tolist()
    for row, (publisher, id) in enumerate(keys):
        alone = hash_keys(stream, publishers.slice(row, 1), ids.slice(row, 1)).tolist()
        assert alone == [whole[row]]
        assert (whole[row] == 0) == (id is None)
        named = hash_keys(stream, pa.array([publisher or ""]), pa.array([id], pa.string()))
        assert named.tolist() == alone  # a missing publisher is the empty name


def test_hashes_of_keys_last_and_differ() -> None:
    """They are stored, so they may not change."""
    keys = [("s", "", "a"), ("s", "p", "a"), ("t", "p", "a"), ("p", "s", "a"), ("s", "p", "b")]
    found = [
        f"{hash_keys(stream, pa.array([name]), pa.array([id]))[0]:016x}"
        for stream, name, id in keys
    ]
    assert len(set(found)) == len(keys)
    assert found == [
        "8cab5a6a7fcfaba1",
        "0c9ff0683e96d59f",
        "085b40accc684b26",
        "c5f2bb74db5e54ce",
        "937167531198e558",
    ]

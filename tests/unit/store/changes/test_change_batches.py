import pyarrow as pa
import pytest

from tests.contract.stores import SCHEMA, changes
from wherecast.model import SchemaError
from wherecast.store.changes.change_batches import (
    check_changes,
    pack_changes,
    runs_of,
    unpack_changes,
)
from wherecast.store.records import CHANGE_KINDS, CHANGES

ROWS = [("subscriber", "", "ana"), ("subscribe", "air", "ana", "1", "a"), ("forget", "", "ana")]


def test_the_order_of_kinds_is_stored_and_stays() -> None:
    assert CHANGE_KINDS[:5] == ("stream", "subscriber", "forget", "subscribe", "unsubscribe")


def test_what_was_packed_is_unpacked() -> None:
    batch = changes(*ROWS * 3)
    assert unpack_changes(pack_changes(batch)).equals(batch)
    part = batch.slice(2, 5)
    assert unpack_changes(pack_changes(part)).to_pylist() == part.to_pylist()


def test_a_dictionary_in_another_order() -> None:
    batch = changes(*ROWS)
    kinds = pa.array(["forget", "stream", "forget"]).dictionary_encode()
    first = pa.DictionaryArray.from_arrays(kinds.indices.cast(pa.int8()), kinds.dictionary)
    other = pa.RecordBatch.from_arrays([first, *batch.columns[1:]], schema=CHANGES)
    found = unpack_changes(pack_changes(other))
    assert found.column("kind").to_pylist() == ["forget", "stream", "forget"]


@pytest.mark.parametrize("data", [b"", b"abc", bytes(100)], ids=["empty", "text", "zeros"])
def test_other_bytes(data: bytes) -> None:
    with pytest.raises(ValueError, match="no changes"):
        unpack_changes(data)


def test_runs_of_one_kind() -> None:
    batch = changes(*ROWS[:2], ROWS[1], ROWS[1], ROWS[2])
    assert [(kind, run.num_rows) for kind, run in runs_of(batch)] == [
        ("subscriber", 1),
        ("subscribe", 3),
        ("forget", 1),
    ]


def test_checks() -> None:
    check_changes(changes(("stream", "air", "", "", SCHEMA.to_json())))
    with pytest.raises(SchemaError):
        check_changes(changes(("stream", "air", "", "", '{"open":false,"attributes":{"a":"x"}}')))
    with pytest.raises(AssertionError):
        check_changes(pa.RecordBatch.from_pylist([], schema=CHANGES))
    with pytest.raises(AssertionError):
        check_changes(pa.RecordBatch.from_pydict({"a": [1]}))

"""Changes as bytes: any kind comes back, and plain changes take no room for what they lack."""

import pyarrow as pa
import pytest

from tests.contract.stores import changes
from wherecast.store.changes.change_bytes import pack_changes, unpack_changes
from wherecast.store.records import CHANGES, NO_CHANGES

ROWS = [("subscriber", "", "ana"), ("subscribe", "air", "ana", "1", "a"), ("forget", "", "ana")]
OTHERS = [("offer", "air", "@b", "o1", "no2 > 1", "x"), ("session ž", "", "", "", "", "")]


@pytest.mark.parametrize(
    "rows",
    [ROWS * 3, ROWS[:1], [*OTHERS, *ROWS], OTHERS[1:]],
    ids=["known", "one", "mixed", "unknown"],
)
def test_what_was_packed_is_unpacked(rows: list[tuple[str, ...]]) -> None:
    batch = changes(*rows)
    assert unpack_changes(pack_changes(batch)).equals(batch)
    part = batch.slice(len(rows) // 2)
    assert unpack_changes(pack_changes(part)).to_pylist() == part.to_pylist()


def test_no_changes() -> None:
    assert unpack_changes(pack_changes(NO_CHANGES)).equals(NO_CHANGES)


def test_as_many_kinds_as_changes() -> None:
    batch = changes(*((f"kind {number}", "", "", "", f"{number}") for number in range(300)))
    assert unpack_changes(pack_changes(batch)).to_pylist() == batch.to_pylist()


def test_names_that_no_change_has_are_not_stored() -> None:
    batch = changes(*OTHERS, *ROWS).slice(2)
    assert b"offer" not in pack_changes(batch)
    assert b"offer" in pack_changes(changes(*OTHERS, *ROWS))


def test_plain_changes_have_no_column_of_options() -> None:
    plain = changes(*[ROWS[1]] * 1_000)
    with_options = changes(*[ROWS[1]] * 999, (*ROWS[1], "{}"))
    assert len(pack_changes(with_options)) - len(pack_changes(plain)) > 4 * 1_000


def test_a_dictionary_in_another_order() -> None:
    batch = changes(*ROWS)
    kinds = pa.array(["forget", "stream", "forget"]).dictionary_encode()
    first = pa.DictionaryArray.from_arrays(kinds.indices.cast(pa.int16()), kinds.dictionary)
    other = pa.RecordBatch.from_arrays([first, *batch.columns[1:]], schema=CHANGES)
    found = unpack_changes(pack_changes(other))
    assert found.column("kind").to_pylist() == ["forget", "stream", "forget"]


@pytest.mark.parametrize("data", [b"", b"abc", bytes(100)], ids=["empty", "text", "zeros"])
def test_other_bytes(data: bytes) -> None:
    with pytest.raises(ValueError, match="no changes"):
        unpack_changes(data)

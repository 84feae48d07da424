"""Headers and payloads come back as they were, and take little where they say little."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.stores import headers_of
from wherecast.store.header_bytes import (
    no_headers,
    pack_headers,
    pack_payloads,
    unpack_headers,
    unpack_payloads,
)
from wherecast.store.records import HEADERS

_TEXT = st.one_of(st.none(), st.sampled_from(["a", "b", "ž" * 50, ""]))
_NUMBER = st.one_of(st.none(), st.sampled_from([0, 1, 2, 2**62, -5]))
_COLUMNS = {field.name: _TEXT if pa.types.is_string(field.type) else _NUMBER for field in HEADERS}
_ROW = st.fixed_dictionaries(_COLUMNS)


@given(st.lists(_ROW, min_size=1, max_size=6), st.integers(1, 4))
def test_they_come_back(rows: list[dict[str, Any]], times: int) -> None:
    rows = rows * times
    headers = headers_of(**{name: [row[name] for row in rows] for name in _COLUMNS})
    packed = pack_headers(headers)
    assert unpack_headers(packed, len(rows)).equals(headers)
    assert (packed is None) == all(value is None for row in rows for value in row.values())


def test_a_part_of_a_batch() -> None:
    headers = headers_of(id=list("abcdef"), counter=[9, 9, 1, 2, 3, 9]).slice(2, 3)
    assert unpack_headers(pack_headers(headers), 3).equals(headers)


def test_bare_ones_take_nothing() -> None:
    assert pack_headers(no_headers(1000)) is pack_payloads(pa.nulls(9, pa.binary())) is None
    assert unpack_headers(None, 3).equals(no_headers(3))
    assert unpack_payloads(None, 3).equals(pa.nulls(3, pa.binary()))


def test_the_call_of_one_publisher_takes_no_more_than_one_publication() -> None:
    def size(count: int) -> int:
        named = headers_of(publisher=["station-7"] * count, counter=range(5, 5 + count))
        packed = pack_headers(named)
        assert packed is not None
        assert unpack_headers(packed, count).equals(named)
        return len(packed)

    assert size(10_000) < size(1) + 100


@given(st.lists(st.one_of(st.none(), st.binary(max_size=9)), min_size=1))
def test_payloads_come_back(payloads: list[bytes | None]) -> None:
    array = pa.array(payloads, pa.binary())
    assert unpack_payloads(pack_payloads(array), len(payloads)).equals(array)


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x01\x00", b"\x00" * 40 + b"\x01\x01"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no headers"):
        unpack_headers(data, 1)


def test_other_bytes_are_no_payloads() -> None:
    with pytest.raises(ValueError, match="no payloads"):
        unpack_payloads(b"\x01\x02", 1)

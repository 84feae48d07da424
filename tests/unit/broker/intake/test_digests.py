"""Digests tell bodies apart, and are the same for the same body wherever it stands."""

import datetime as dt
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from wherecast import Schema
from wherecast.broker.intake.digests import row_digests
from wherecast.columns import decode_rows

SCHEMA = Schema.from_dict(
    {
        "i": "int",
        "f": "float",
        "b": "bool",
        "s": "string",
        "t": "timestamp",
        "d": {"type": "decimal", "scale": 2},
        "n.s": "string",
        "as": "array<string>",
        "ai": "array<int>",
        "af": "array<float>",
    }
)
OPEN = Schema((), open=True)
ARRAY_DIGESTS = [6889564238166595316, 2212362612764185114, 16832695188905730746]
values = {
    "i": st.integers(-(2**63), 2**63 - 1),
    "f": st.floats(allow_nan=False, allow_infinity=False),
    "b": st.booleans(),
    "s": st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    "t": st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)).map(
        lambda moment: moment.replace(tzinfo=dt.UTC)
    ),
    "n.s": st.sampled_from(["", "x"]),
    "as": st.lists(st.none() | st.sampled_from(["", "x", "y" * 300]), max_size=3),
    "ai": st.lists(st.none() | st.sampled_from([0, 1, -1]), max_size=3),
    "af": st.lists(st.none() | st.sampled_from([0.0, 0.5]), max_size=3),
}
bodies = st.tuples(st.fixed_dictionaries({}, optional=values), st.none() | st.binary(max_size=3))


def digests(
    rows: list[tuple[dict[str, Any], bytes | None]], schema: Schema, stream: str = "air"
) -> list[int]:
    decoded = decode_rows([row for row, _ in rows], schema)
    assert not decoded.rejected
    payloads = pa.array([payload for _, payload in rows], pa.binary())
    return [int(one) for one in row_digests(decoded.batch, payloads, stream)]


@given(st.lists(bodies, min_size=1, max_size=6))
def test_a_body_has_one_digest_whatever_stands_beside_it(
    rows: list[tuple[dict[str, Any], bytes | None]],
) -> None:
    together = digests(rows, SCHEMA)
    assert together == [digests([row], SCHEMA)[0] for row in rows]


@given(bodies, bodies)
def test_other_bodies_have_other_digests(
    one: tuple[dict[str, Any], bytes | None], other: tuple[dict[str, Any], bytes | None]
) -> None:
    first, second = digests([one, other], SCHEMA)
    assert (first == second) == (one == other)


def test_undeclared_attributes_count_and_missing_ones_do_not() -> None:
    rows: list[tuple[dict[str, Any], bytes | None]] = [
        ({"x": 1}, None),
        ({"x": 1, "y": None}, None),
        ({"x": "1"}, None),
        ({"x": True}, None),
        ({"y": 1}, None),
        ({}, b""),
        ({}, None),
    ]
    found = digests(rows, OPEN)
    assert found[0] == found[1]
    assert len(set(found)) == 6


@given(st.lists(bodies, min_size=1, max_size=3))
def test_many_rows_have_the_digests_of_few(
    rows: list[tuple[dict[str, Any], bytes | None]],
) -> None:
    many = digests(rows * 20, SCHEMA)
    assert many == digests(rows, SCHEMA) * 20


def test_digests_of_arrays_stay_as_they_are() -> None:
    row = {"as": ["čaj", None, ""], "ai": [1, -1], "af": [0.5]}
    found = digests([(row, None), ({"as": []}, None), ({"as": [None]}, None)], SCHEMA)
    assert found == ARRAY_DIGESTS
    assert digests([({"af": [-0.0]}, None)], SCHEMA) == digests([({"af": [0.0]}, None)], SCHEMA)
    assert len({*digests([({"as": ["x", "y"]}, None), ({"as": ["y", "x"]}, None)], SCHEMA)}) == 2


def test_they_stay_as_they_are() -> None:
    row = {"i": 5, "f": 1.5, "b": True, "s": "čaj", "t": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}
    long = {"s": "x" * 300}
    assert digests([(row, b"p"), (long, None), ({}, None)], SCHEMA) == [
        12352802330662139765,
        701913925769159423,
        17078571921154836626,
    ]

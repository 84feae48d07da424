"""Decoding whole columns gives what the model's scalar rule gives, row by row."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

import orjson
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from wherecast.columns import decode_json, decode_ndjson, decode_rows, read_arrow, rows_of
from wherecast.columns.arrow_schema import ARROW_TYPES
from wherecast.model import Attribute, Limits, PublicationError, Schema

NAMES = ["a", "A", "b", "Bc", "n.x", "n.y.z", "n.X"]
STEPS = ["0.1", "0.25", "1", "2", "3", "7", "0.003", "1e-7", "1000000", "1e17"]
INTS = st.one_of(
    st.integers(-20, 20),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**400]),
)
FLOATS = st.one_of(
    st.integers(-400, 400).map(lambda n: n / 20),  # many lie on a tie of some step
    st.floats(-100, 100),
    st.floats(),
    st.sampled_from([0.05, 0.15, 0.25, -0.0, 5.0, 2.0**53, 2.0**53 + 2, 1.7e308]),
)
TEXTS = st.one_of(
    st.text(max_size=5),
    st.sampled_from(["low", "high", "2026-05-01", "2026-05-01T12:00:00.5+02:00", "2026-02-30"]),
)


@st.composite
def attributes(draw: st.DrawFn, name: str) -> Attribute:
    kind = draw(st.sampled_from(["int", "float", "bool", "string", "timestamp"]))
    if draw(st.booleans()):
        if kind == "string":
            return Attribute(name, kind, values=("low", "high"))
        if kind in ("int", "float"):
            numbers = st.integers(-30, 30) if kind == "int" else st.integers(-300, 300)
            low = draw(st.none() | numbers.map(lambda n: n if kind == "int" else n / 10))
            high = draw(st.none() | st.integers(30, 60).map(int if kind == "int" else float))
            steps = [s for s in STEPS if kind == "float" or Decimal(s) == int(Decimal(s))]
            step = draw(st.none() | st.sampled_from(steps).map(Decimal))
            return Attribute(name, kind, low, high, step)
    return Attribute(name, kind)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    return Schema(tuple(draw(attributes(name)) for name in names), open=draw(st.booleans()))


def nested(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from([*NAMES, "zz", "n", "x", "y", "z"])
    return st.dictionaries(names, values | st.dictionaries(names, values, max_size=2), max_size=5)


JSON_VALUES = st.one_of(
    st.none(), st.booleans(), INTS, FLOATS.filter(isfinite), TEXTS, st.just([1]), st.just({})
)
PYTHON_VALUES = st.one_of(
    JSON_VALUES,
    FLOATS,
    st.sampled_from([Decimal("5"), Decimal("5.5"), datetime(2026, 5, 1, tzinfo=UTC), b"x"]),
)
MANY = Limits(publication_attributes_max=4)


def expected(schema: Schema, rows: list[Any], limits: Limits) -> tuple[list[Any], list[Any]]:
    """The canonical rows by number, and the distinct (row, code, attribute) of the problems."""
    good, bad = [], set()
    for number, row in enumerate(rows):
        try:
            read = schema.read(row, limits)
        except PublicationError as error:
            bad |= {(number, p.code, p.attribute) for p in error.problems}
        else:
            wide = [name for name, value in read.items() if _is_wide(value)]
            bad |= {(number, "out_of_range", name) for name in wide}
            good += [] if wide else [(number, read)]
    return good, sorted(bad, key=repr)


def _is_wide(value: Any) -> bool:
    """Whether the nearest step of an int does not fit into its column."""
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def decoded(found: Any, schema: Schema) -> tuple[list[Any], list[Any]]:
    good = list(zip(found.rows.tolist(), rows_of(found.batch, schema), strict=True))
    assert [r.row for r in found.rejected] == sorted(r.row for r in found.rejected)
    assert not set(found.rows.tolist()) & {r.row for r in found.rejected}
    found.batch.validate(full=True)
    return good, sorted({(r.row, r.code, r.attribute) for r in found.rejected}, key=repr)


def same(left: Any, right: Any) -> bool:
    """Equality in which NaN equals itself, -0.0 is not 0.0, and types count."""
    return repr(_sorted(left)) == repr(_sorted(right))


def _sorted(result: tuple[list[Any], list[Any]]) -> Any:
    return [(number, sorted(row.items())) for number, row in result[0]], result[1]


@given(schemas(), st.lists(nested(PYTHON_VALUES), max_size=6), st.sampled_from([Limits(), MANY]))
@example(
    Schema((Attribute("a", "float", step=Decimal("0.1")),)), [{"a": 0.05}, {"a": 0.15}], Limits()
)
@example(Schema((Attribute("a", "int", step=Decimal(10)),)), [{"a": 2**63 - 1}], Limits())
def test_rows_are_read_as_the_model_reads_them(
    schema: Schema, rows: list[Any], limits: Limits
) -> None:
    found = decoded(decode_rows(rows, schema, limits), schema)
    assert same(found, expected(schema, rows, limits))


@given(schemas(), st.lists(nested(JSON_VALUES), max_size=6))
def test_json_is_read_as_the_model_reads_what_it_says(schema: Schema, rows: list[Any]) -> None:
    texts = [json.dumps(row).encode() for row in rows]
    wanted = expected(schema, rows, Limits())
    assert same(decoded(decode_json(b"[%s]" % b",".join(texts), schema), schema), wanted)
    assert same(decoded(decode_ndjson(b"\n\n".join(texts), schema), schema), wanted)


@given(schemas().filter(lambda s: not s.open), st.data())
def test_tables_are_read_as_the_model_reads_their_rows(schema: Schema, data: st.DataObject) -> None:
    values = {
        "int": st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20),
        "float": FLOATS,
        "bool": st.booleans(),
        "string": TEXTS,
        "timestamp": st.datetimes(timezones=st.just(UTC)),
    }
    row = st.fixed_dictionaries({a.name: st.none() | values[a.type] for a in schema})
    rows = data.draw(st.lists(row, max_size=6))
    fields = [pa.field(a.name, ARROW_TYPES[a.type]) for a in schema]
    table = pa.Table.from_pylist(rows, schema=pa.schema(fields))
    assert same(decoded(read_arrow(table, schema), schema), expected(schema, rows, Limits()))


@given(schemas(), st.lists(nested(PYTHON_VALUES), max_size=6))
def test_a_batch_is_read_back_unchanged(schema: Schema, rows: list[Any]) -> None:
    first = decode_rows(rows, schema)
    again = read_arrow(first.batch, schema)
    assert again.rejected == ()
    assert again.batch.schema.equals(first.batch.schema, check_metadata=True)
    assert repr(rows_of(again.batch, schema)) == repr(rows_of(first.batch, schema))


@given(st.lists(nested(JSON_VALUES), max_size=4), st.binary(max_size=3), st.integers(0, 200))
def test_any_bytes_give_rows_or_an_error(rows: list[Any], noise: bytes, place: int) -> None:
    text = json.dumps(rows).encode()
    body = text[:place] + noise + text[place:]
    schema = Schema((Attribute("a", "int"), Attribute("n.x", "string")), open=True)
    decode_ndjson(body, schema)
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        document = None
    try:
        found = decode_json(body, schema)
    except PublicationError:
        count = None
    else:
        count = len(found.rows) + len({r.row for r in found.rejected})
    if isinstance(document, dict | list):
        assert count == (len(document) if isinstance(document, list) else 1)

"""The reference index agrees with DuckDB's WHERE, a second opinion beside Spark SQL.

DuckDB reads other texts than Spark, so each filter is drawn once and written for both. Left out is
only what DuckDB means otherwise (each exclusion has a test below that shows it):

- numbers beside ints that need more than DuckDB's exact types, which it compares as doubles;
- letters whose other case has several characters, and the final sigma: it folds one by one;
- NUL, which cannot stand in the text of a query.

NaN, infinities, -0.0 and decimals beside doubles are all in.
"""

from datetime import timedelta
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.strategies import (
    RANDOMS,
    Constant,
    Grammar,
    fill_both,
    make_row,
    make_schema,
    make_template,
)
from wherecast import Index
from wherecast.columns import arrow_schema
from wherecast.language import Filter
from wherecast.model import Schema
from wherecast.model.times import EPOCH

GRAMMAR = Grammar(
    geo=False, int_doubles=False, wide_numbers=False, cased=False, nul=False, columns=False
)
Case = tuple[Schema, list[tuple[str, str]], list[dict[str, Any]]]


def written(pieces: list[str | Constant]) -> str:
    """The same filter as DuckDB reads it."""
    return "".join(piece if isinstance(piece, str) else literal(piece) for piece in pieces)


def literal(constant: Constant) -> str:
    if isinstance(constant.value, str):
        return "'" + constant.value.replace("'", "''") + "'"
    if constant.text.lstrip().upper().startswith(("DATE", "TIMESTAMP", "'", '"')):
        moment = EPOCH + timedelta(microseconds=constant.value)
        return f"TIMESTAMP '{moment.replace(tzinfo=None).isoformat(' ')}'"
    return constant.text


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng: Random = draw(RANDOMS)
    schema = make_schema(rng, GRAMMAR)
    texts = []
    for _ in range(20):
        text, pieces = fill_both(rng, make_template(rng, schema, GRAMMAR), GRAMMAR)
        texts.append((text, written(pieces)))
    return schema, texts, [make_row(rng, schema, GRAMMAR) for _ in range(30)]


def publications(schema: Schema, rows: list[dict[str, Any]]) -> pa.Table:
    """Canonical rows as a table, times without a zone."""
    fields = [
        pa.field(f.name, pa.timestamp("us") if pa.types.is_timestamp(f.type) else f.type)
        for f in arrow_schema(schema)
    ]
    columns = [
        pa.array([row.get(field.name) for row in rows], pa.int64()).cast(field.type)
        if pa.types.is_timestamp(field.type)
        else pa.array([row.get(field.name) for row in rows], field.type)
        for field in fields
    ]
    return pa.table(columns, schema=pa.schema(fields))


@pytest.fixture(scope="module")
def connection() -> Any:
    with duckdb.connect() as found:
        found.execute("SET threads = 1")
        yield found


def verdicts(connection: Any, table: pa.Table, texts: list[str]) -> list[list[bool | None]]:
    """What DuckDB says of each row, for each text."""
    connection.register("publications", table)
    listed = ", ".join(f"CAST(({text}) AS BOOLEAN)" for text in texts)
    return [
        list(row) for row in connection.execute(f"SELECT {listed} FROM publications").fetchall()
    ]


@settings(max_examples=40)
@given(case=cases())
def test_the_reference_agrees_with_duckdb(connection: Any, case: Case) -> None:
    schema, texts, rows = case
    table = publications(schema, rows)
    filters = [Filter(text, schema) for text, _ in texts]
    index = Index(schema, kind="scan")
    index.add_all(enumerate(filters))
    found = index.match(table).to_pylist()
    said = verdicts(connection, table, [other for _, other in texts])
    for row, ids, answers in zip(rows, found, said, strict=True):
        for number, (filter, answer) in enumerate(zip(filters, answers, strict=True)):
            shown = (*texts[number], row)
            assert (answer is True) == (number in ids), shown
            assert answer is filter.evaluate(row), shown


@pytest.mark.parametrize(
    ("ours", "value", "matches", "theirs"),
    [
        ("i = 9007199254740992e0", 2**53 + 1, False, f"{2**53 + 1}::BIGINT = 9007199254740992e0"),
        (f"i = 2.{'0' * 40}1", 2, False, f"2::BIGINT = 2.{'0' * 40}1"),
        ("upper(s) = 'SS'", "ß", True, "upper('ß') = 'SS'"),
        ("lower(s) = 'i\u0307'", "İ", True, "lower('İ') = 'i\u0307'"),
        ("lower(s) = 'ας'", "ΑΣ", True, "lower('ΑΣ') = 'ας'"),
    ],
)  # fmt: skip
def test_what_is_left_out_differs(
    connection: Any, ours: str, value: Any, matches: bool, theirs: str
) -> None:
    """Where DuckDB comes to agree, the exclusion above can go."""
    schema = Schema.from_dict({"i": "int", "s": "string"})
    assert Filter(ours, schema).matches({"s" if isinstance(value, str) else "i": value}) == matches
    assert connection.execute(f"SELECT {theirs}").fetchone()[0] != matches

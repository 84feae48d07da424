"""Formulas have the values that DuckDB gives them, where DuckDB means what Spark means.

What is left out stands in `tests.property.formulas`: decimals, whose digits DuckDB counts
otherwise, divisions of doubles by zero, rounding, and functions that Spark defines otherwise.
"""

import math
from datetime import datetime
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from tests.property.formulas import SCHEMA, Formulas, make_formula_row, read_formula
from tests.property.strategies import typed_column
from tests.seeds import jobs, random_of
from wherecast.columns import arrow_schema
from wherecast.language.meaning.evaluate import evaluate, row_value
from wherecast.language.meaning.evaluate_formula import formula_value
from wherecast.language.meaning.formula import Formula
from wherecast.model.times import EPOCH, time_micros

KINDS = ("int", "float", "string", "time", "bool", "bool")
FORMULAS, ROWS = 240, 40


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as a table, times without a zone."""
    columns = []
    for field in arrow_schema(SCHEMA):
        column = typed_column(rows, field)
        is_time = pa.types.is_timestamp(field.type)
        columns.append(column.cast(pa.timestamp("us")) if is_time else column)
    return pa.table(columns, names=arrow_schema(SCHEMA).names)


def is_same(one: Any, other: Any) -> bool:
    if isinstance(other, datetime):
        other = time_micros(other.replace(tzinfo=EPOCH.tzinfo))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return (one is None) == (other is None) and bool(one == other)


def value_of(formula: Formula, row: dict[str, Any]) -> Any:
    return formula_value(formula, lambda one: row_value(one, row), lambda part: evaluate(part, row))


@pytest.mark.parametrize("job", jobs(8, in_make_test=2, in_release=4))
def test_formulas_agree_with_duckdb(job: int) -> None:
    rng = random_of(f"duckdb formulas {job}")
    draw = Formulas(rng)
    texts = [draw.make(KINDS[n % len(KINDS)], rng.randrange(1, 4)) for n in range(FORMULAS)]
    texts = [text for text in texts if text.duck is not None]
    rows = [make_formula_row(rng) for _ in range(ROWS)]
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("publications", table_of(rows))
        listed = ", ".join(str(text.duck) for text in texts)
        said = connection.execute(f"SELECT {listed} FROM publications").fetchall()

    wrong = []
    for number, text in enumerate(texts):
        formula = read_formula(text.ours)
        for row, answers in zip(rows, said, strict=True):
            value = value_of(formula, row)
            if not is_same(value, answers[number]):
                wrong.append((text.ours, value, answers[number], text.duck, row))
    assert not wrong, "\n".join(map(str, wrong[:20]))
    assert len(texts) > FORMULAS / 4

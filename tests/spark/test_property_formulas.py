"""Formulas have the types and the values that Spark SQL gives them, on random formulas and rows.

Each job draws hundreds of formulas from the seed of the run and computes all of them as columns of
one query. Spark fails on an overflow and on a division by zero where a formula is NULL, so its
texts use the `try_` functions; see `tests.property.formulas`.
"""

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.conformance.frames import frame_of
from tests.property.formulas import SCHEMA, Formulas, make_formula_row, read_formula
from tests.property.strategies import typed_column
from tests.seeds import jobs, random_of
from wherecast.columns import arrow_schema
from wherecast.language.meaning.evaluate import evaluate, row_value
from wherecast.language.meaning.evaluate_formula import formula_value
from wherecast.language.meaning.formula import Formula
from wherecast.model.times import DAY_MICROS, EPOCH, time_micros

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

KINDS = ("int", "float", "decimal", "decimal", "string", "time", "date", "bool", "bool")
JOBS, FORMULAS, ROWS = 12, 270, 50
TYPES = {"int": "bigint", "float": "double", "bool": "boolean"}


@pytest.fixture(scope="module")
def interpreted(spark: "SparkSession") -> Iterator["SparkSession"]:
    """A session that interprets expressions as written.

    Compiling thousands takes far longer. Two rules of the optimizer change what a text means:
    `a + (b + 1)` becomes `(a + b) + 1`, which overflows elsewhere, and `lower(upper(s))` becomes
    `lower(s)`.
    """
    rules = "org.apache.spark.sql.catalyst.optimizer."
    options = {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.optimizer.excludedRules": (
            f"{rules}ReorderAssociativeOperator,{rules}SimplifyCaseConversionExpressions"
        ),
    }
    for name, value in options.items():
        spark.conf.set(name, value)
    yield spark
    for name in options:
        spark.conf.unset(name)


def canonical(value: Any) -> Any:
    """A value of Spark as formulas have it."""
    if isinstance(value, datetime):
        return time_micros(value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC))
    if isinstance(value, date):
        return (value - EPOCH.date()).days * DAY_MICROS
    return value


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return one == other
    return type(one) is type(other) and bool(one == other)


def value_of(formula: Formula, row: dict[str, Any]) -> Any:
    return formula_value(formula, lambda one: row_value(one, row), lambda part: evaluate(part, row))


@pytest.mark.parametrize("job", jobs(JOBS, in_make_test=2, in_release=5))
def test_formulas_agree_with_spark_sql(interpreted: "SparkSession", job: int) -> None:
    from pyspark.sql import functions as fn

    rng = random_of(f"formulas {job}")
    draw = Formulas(rng)
    texts = [draw.make(KINDS[n % len(KINDS)], rng.randrange(1, 4)) for n in range(FORMULAS)]
    rows = [make_formula_row(rng) for _ in range(ROWS)]
    columns = arrow_schema(SCHEMA)
    table = pa.table([typed_column(rows, field) for field in columns], schema=columns)

    asked = [
        fn.expr(
            f"unix_micros({text.spark})" if KINDS[n % len(KINDS)] == "time" else text.spark
        ).alias(f"f{n}")
        for n, text in enumerate(texts)
    ]
    frame = frame_of(interpreted, table).coalesce(1).select(*asked)
    said = frame.collect()

    wrong: list[Any] = []
    for number, text in enumerate(texts):
        formula = read_formula(text.ours)
        type_ = frame.schema[number].dataType.simpleString()
        kind = KINDS[number % len(KINDS)]
        own = TYPES.get(formula.type.kind, str(formula.type))
        if kind != "time" and own != type_:
            wrong.append((text.ours, own, type_))
        wrong += [
            (text.ours, value_of(formula, row), canonical(answers[number]), row)
            for row, answers in zip(rows, said, strict=True)
            if not is_same(value_of(formula, row), canonical(answers[number]))
        ]
    assert not wrong, "\n".join(map(str, wrong[:40]))

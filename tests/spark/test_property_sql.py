"""The reference index agrees with Spark SQL on random schemas, filters and publications.

Each job draws a schema from the seed of the run, hundreds of filters and tens of publications with
missing values, and runs all filters as columns of one query: their texts, or in every second job
what they print. Left out is only what stands in the table of deviations: our own functions, numbers
with an exponent beside ints, and numbers that 64 bits or the decimals of Spark cannot hold.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.conformance.frames import frame_of
from tests.property.strategies import (
    Grammar,
    fill,
    make_row,
    make_schema,
    make_template,
    typed_column,
)
from tests.seeds import jobs, random_of
from wherecast import Filter, Index, Schema
from wherecast.columns import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

GRAMMAR = Grammar(geo=False, int_doubles=False, wide_numbers=False, spellings=False)
JOBS, FILTERS, ROWS = 20, 200, 60


@pytest.fixture(scope="module")
def interpreted(spark: "SparkSession") -> Iterator["SparkSession"]:
    """A session that interprets expressions: compiling thousands takes far longer."""
    options = {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    for name, value in options.items():
        spark.conf.set(name, value)
    yield spark
    for name in options:
        spark.conf.unset(name)


def nested(schema: Schema, rows: list[dict[str, Any]]) -> pa.Table:
    """Canonical rows as a table; dotted names become structs."""
    columns: dict[str, Any] = {}
    for field in arrow_schema(schema):
        array = typed_column(rows, field)
        inner = columns
        *parents, leaf = field.name.split(".")
        for part in parents:
            inner = inner.setdefault(part, {})
        inner[leaf] = array
    return pa.table({name: _array(column) for name, column in columns.items()})


def _array(column: Any) -> pa.Array:
    if not isinstance(column, dict):
        return column
    return pa.StructArray.from_arrays([_array(inner) for inner in column.values()], list(column))


@pytest.mark.parametrize("job", jobs(JOBS, in_make_test=3, in_release=8))
def test_the_reference_agrees_with_spark_sql(interpreted: "SparkSession", job: int) -> None:
    from pyspark.sql import functions as fn

    rng = random_of(job)
    schema = make_schema(rng, GRAMMAR)
    texts = [fill(rng, make_template(rng, schema, GRAMMAR), GRAMMAR) for _ in range(FILTERS)]
    rows = [make_row(rng, schema, GRAMMAR) for _ in range(ROWS)]
    table = nested(schema, rows)

    filters = [Filter(text, schema) for text in texts]
    written = texts if job % 2 else [str(filter) for filter in filters]
    columns = [fn.expr(text).alias(f"filter_{number}") for number, text in enumerate(written)]
    said = frame_of(interpreted, table).coalesce(1).select(*columns).collect()

    index = Index(schema, kind="scan")
    index.add_all(enumerate(filters))
    found = index.match(table).to_pylist()
    wrong = [
        (filter.text, row, answer)
        for row, ids, answers in zip(rows, found, said, strict=True)
        for number, (filter, answer) in enumerate(zip(filters, answers, strict=True))
        if answer is not filter.evaluate(row) or (answer is True) != (number in ids)
    ]
    assert not wrong, wrong[:5]

"""The sceptic's test: Spark SQL itself gives what the conformance cases expect.

The text of each filter, and the text that the filter prints, is run as a SQL expression over the
publications of its file: one query for each file. Our own functions are defined in SQL first, or in
Python where Spark is older than 4.
"""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from math import asin, cos, radians, sin, sqrt
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.cases import FILES, CaseFile, Refused, read_filter
from tests.conformance.frames import publications_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FUNCTIONS = {
    "starts_with": "(a STRING, part STRING) RETURNS BOOLEAN RETURN startswith(a, part)",
    "ends_with": "(a STRING, part STRING) RETURNS BOOLEAN RETURN endswith(a, part)",
    "geo_distance": """(a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE) RETURNS DOUBLE
        RETURN 2 * 6371008.8 * asin(sqrt(
            power(sin(radians(c - a) / 2), 2)
            + cos(radians(a)) * cos(radians(c)) * power(sin(radians(d - b) / 2), 2)))""",
}


def geo_distance(*degrees: float | Decimal) -> float:
    a, b, c, d = map(float, degrees)
    across = cos(radians(a)) * cos(radians(c)) * sin(radians(d - b) / 2) ** 2
    return 2 * 6371008.8 * asin(sqrt(sin(radians(c - a) / 2) ** 2 + across))


PYTHON_FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    "starts_with": (str.startswith, "boolean"),
    "ends_with": (str.endswith, "boolean"),
    "geo_distance": (geo_distance, "double"),
}


def null_of_null(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: None if None in values else function(*values)


@pytest.fixture(scope="module")
def functions(spark: "SparkSession") -> Iterator[None]:
    for name, definition in FUNCTIONS.items():
        if spark.version < "4":
            function, type_ = PYTHON_FUNCTIONS[name]
            spark.udf.register(name, null_of_null(function), type_)
        else:
            spark.sql(f"CREATE TEMPORARY FUNCTION {name}{definition}")
    yield
    for name in FUNCTIONS:
        spark.sql(f"DROP TEMPORARY FUNCTION {name}")


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize("file", [pytest.param(f, id=f.stem) for f in FILES if f.cases_for("sql")])
def test_spark_sql_agrees(spark: "SparkSession", file: CaseFile) -> None:
    from pyspark.sql import functions as fn

    schema = file.schema()
    cases = file.cases_for("sql")
    texts: list[tuple[int, str, str]] = []  # case, id, SQL
    for number, case in enumerate(cases):
        for id_, source in case.filters.items():
            written = {str(read_filter(source, schema))}
            if isinstance(source, str) and not source.lstrip().startswith("["):
                written.add(source)
            if spark.version < "4":  # there a doubled quote ends one text and begins another
                written = {text for text in written if not re.search("''|\"\"", text)}
            texts += [(number, id_, text) for text in sorted(written)]
    columns = [  # only the rows of its own case: an error is one of Spark for the whole query
        fn.when(fn.col("case_number") == number, fn.expr(text)).alias(f"filter_{n}")
        for n, (number, _, text) in enumerate(texts)
    ]
    frame = publications_frame(spark, file, cases)
    found: dict[tuple[int, int], list] = {}
    for case_number, row_number, *verdicts in frame.select(
        "case_number", "row_number", *columns
    ).collect():
        found[case_number, row_number] = verdicts

    wrong = []
    for n, (number, id_, text) in enumerate(texts):
        case = cases[number]
        for row, expected in enumerate(case.expected):
            if isinstance(expected, Refused):
                continue
            if (found[number, row][n] is True) != (id_ in expected):
                wrong.append((case.name, text, case.publications[row], found[number, row][n]))
    assert not wrong

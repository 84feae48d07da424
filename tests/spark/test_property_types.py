"""`match` agrees with Spark SQL's own evaluation on columns of every type that filters can name.

Each job draws rows and filters from its seed, with constants that are values or their neighbours.
All filters are columns of one query on the side of Spark SQL, and one call of `match` on ours.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import inf, nan
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.seeds import random_of
from wherecast import FilterError, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

JOBS, FILTERS, ROWS = 3, 200, 60
COLUMNS = """
    price decimal(10, 2), rate decimal(18, 6), whole decimal(12, 0), tiny tinyint, small smallint,
    n int, big bigint, f float, x double, day date, local timestamp_ntz, seen timestamp,
    v varchar(8), c char(5), sub struct<price: decimal(9, 3), day: date, v: varchar(4)>
"""
NUMBERS = ["price", "rate", "whole", "tiny", "small", "n", "big", "f", "x", "sub.price"]
TIMES = ["day", "local", "seen", "sub.day"]
STRINGS = ["v", "sub.v"]
NOON = datetime(2026, 5, 1, 12)


def _decimals(*texts: str) -> list[Any]:
    return [Decimal(text) for text in texts]


VALUES: dict[str, list[Any]] = {
    "price": _decimals("0", "0.01", "-0.01", "1.25", "12.5", "99999999.99", "-99999999.99"),
    "rate": _decimals("0", "0.000001", "1.25", "-0.01", "999999999999.999999"),
    "whole": _decimals("0", "1", "-1", "999999999999"),
    "tiny": [0, 1, -1, 5, 127, -128],
    "small": [0, 1, 5, 32767, -32768],
    "n": [0, 1, 5, 16777217, 2**31 - 1, -(2**31)],
    "big": [0, 1, 5, 2**53 + 1, 2**63 - 1, -(2**63)],
    "f": [0.1, 1.25, -0.0, 16777216.0, nan, inf, -inf, 3.4028234663852886e38, 1e-45],
    "x": [0.1, 1.25, 0.0, 0.01, float(2**53), nan, inf, -inf, 1e300],
    "day": [date(2026, 5, 1), date(2026, 5, 2), date(1969, 12, 31), date(1, 1, 1), date.max],
    "local": [NOON, NOON.replace(hour=0), NOON + timedelta(microseconds=1), datetime(1, 1, 1)],
    "v": ["", "ab", "ab ", "abc", "Zagreb", "é"],
}
VALUES |= {"sub.price": [*VALUES["whole"][:3], Decimal("0.001"), Decimal("-999999.999")]}
VALUES |= {"seen": [moment.replace(tzinfo=UTC) for moment in VALUES["local"]]}
VALUES |= {"sub.day": VALUES["day"], "sub.v": ["", "ab", "abcd"], "c": ["ab", "abcde", ""]}

_EXACT = ["0", "1", "-1", "5", "1.25", "0.005", "-0.015", "2.5", "12.50", "127.5", "300", "-32769"]
_EXACT += ["0.01", "0.000001", "0.0000005", "99999999.99", "99999999.995", "16777216.5"]
_EXACT += ["3000000000", "9007199254740993", "9223372036854775807", "-9223372036854775808"]
_DOUBLES = ["0.1", "0.1e0", "0.10000000149011612", "16777216", "16777217", "1e39", "-0.0", "125e-2"]
_DOUBLES += ["9007199254740993", "3.4028234663852886E38", "1.401298464324817e-45", "0.01", "1.25"]
_DATES = ["'2026-05-01'", "DATE '2026-05-02'", "DATE '1969-12-31'", "'0001-01-01'", "'9999-12-31'"]
_DATES += ["DATE '2026-05-01 12:00:00'", "TIMESTAMP '2026-05-01 12:00:00'"]
_DATES += ["TIMESTAMP '2026-05-01 02:00:00+02:00'", "TIMESTAMP_NTZ '2026-05-02 00:00:00'"]
_MOMENTS = ["'2026-05-01 12:00:00'", "TIMESTAMP '2026-05-01 14:00:00+02:00'", "'2026-05-01'"]
_MOMENTS += ["TIMESTAMP_NTZ '2026-05-01 12:00:00'", "DATE '2026-05-01'", "'0001-01-01T00:00:00'"]
_TEXTS = ["''", "'ab'", "'ab '", "'abc'", "'b'", "'é'"]


def _constants(name: str) -> list[str]:
    if name in ("f", "x"):
        return _DOUBLES
    if name in STRINGS:
        return _TEXTS
    if name in TIMES:
        return _DATES if "day" in name else _MOMENTS
    return _EXACT


def _predicate(rng: Random) -> str:
    name = rng.choice(NUMBERS * 2 + TIMES * 2 + STRINGS)
    constants = _constants(name)
    operator = rng.choice(["=", "<>", "<", "<=", ">", ">="])
    form = rng.random()
    if form < 0.45:
        return f"{name} {operator} {rng.choice(constants)}"
    if form < 0.6:
        low, high = rng.choice(constants), rng.choice(constants)
        return f"{name} {rng.choice(['', 'NOT '])}BETWEEN {low} AND {high}"
    if form < 0.75:
        listed = ", ".join(rng.sample(constants, rng.randint(1, 4)))
        return f"{name} {rng.choice(['', 'NOT '])}IN ({listed})"
    if form < 0.8:
        return f"{name} IS {rng.choice(['', 'NOT '])}NULL"
    others = next(group for group in (NUMBERS, TIMES, STRINGS) if name in group)
    return f"{name} {operator} {rng.choice(others)}"


def _filter(rng: Random) -> str:
    parts = [_predicate(rng) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    parts = [f"NOT ({part})" if rng.random() < 0.15 else part for part in parts]
    return rng.choice([" AND ", " OR "]).join(parts)


def _row(rng: Random, number: int) -> tuple[Any, ...]:
    given = {n: None if rng.random() < 0.15 else rng.choice(VALUES[n]) for n in VALUES}
    sub = None if rng.random() < 0.1 else tuple(given[f"sub.{n}"] for n in ("price", "day", "v"))
    names = [*NUMBERS[:-1], *TIMES[:-1], "v", "c"]
    return (number, *(given[name] for name in names), sub)


@pytest.fixture
def table(spark: "SparkSession") -> Iterator[str]:
    """A table of Spark's own, since only tables have columns declared as char and varchar."""
    name = "columns_of_all_types"
    for kind in ("datetime", "int96"):  # Spark 3.5 asks how times before 1900 are to be written
        for way in ("Read", "Write"):
            spark.conf.set(f"spark.sql.parquet.{kind}RebaseModeIn{way}", "CORRECTED")
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} (number int, {COLUMNS}) USING parquet")
    yield name
    spark.sql(f"DROP TABLE {name}")


def _filled(spark: "SparkSession", table: str, rows: list[tuple[Any, ...]]) -> "DataFrame":
    plain = COLUMNS.replace("varchar(8)", "string").replace("varchar(4)", "string")
    frame = spark.createDataFrame(rows, f"number int, {plain.replace('char(5)', 'string')}")
    frame.coalesce(1).write.insertInto(table)
    return spark.table(table).coalesce(1)


@pytest.mark.parametrize("job", range(JOBS))
def test_match_agrees_with_spark_sql(spark: "SparkSession", table: str, job: int) -> None:
    from pyspark.sql import functions as fn

    from wherecast.spark import match

    rng = random_of(job)
    rows = [_row(rng, number) for number in range(ROWS)]
    frame = _filled(spark, table, rows)
    texts = [_filter(rng) for _ in range(FILTERS)]
    spark.conf.set("spark.sql.codegen.wholeStage", "false")  # compiling hundreds takes far longer
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    try:
        columns = [fn.expr(text).alias(f"f{number}") for number, text in enumerate(texts)]
        said = frame.select("number", *columns).collect()
    finally:
        spark.conf.unset("spark.sql.codegen.wholeStage")
        spark.conf.unset("spark.sql.codegen.factoryMode")

    filters = spark.createDataFrame(list(enumerate(texts)), "id int, filter string")
    matched = match(frame, filters, how="left", output="arrays").select("number", "filter_ids")

    found = {row.number: set(row.filter_ids) for row in matched.collect()}
    assert len(found) == ROWS
    assert sum(map(len, found.values())) > FILTERS * ROWS // 10
    wrong = [
        (texts[number], answer, rows[row])
        for row, *answers in said
        for number, answer in enumerate(answers)
        if (answer is True) != (number in found[row])
    ]
    assert not wrong, wrong[:5]


def test_a_char_is_refused_and_its_cast_compares_as_in_spark_sql(
    spark: "SparkSession", table: str
) -> None:
    from pyspark.sql import functions as fn

    from wherecast.spark import match

    rng = Random(5)
    frame = _filled(spark, table, [_row(rng, number) for number in range(20)])
    filters = spark.createDataFrame(
        list(enumerate(["c = 'ab'", "c = 'ab   '", "c LIKE 'ab%'", "c < 'abc'"])),
        "id int, filter string",
    )
    schema = Schema.from_spark(frame.schema)
    assert schema.unsupported == {"c": "char(5)"}
    with pytest.raises(FilterError, match=r"c has type char\(5\)"):
        match(frame, filters)

    cast = frame.select("number", fn.col("c").cast("string").alias("c"))
    found = sorted((row.number, row.filter_id) for row in match(cast, filters).collect())
    wanted = [
        (row.number, number)
        for number, text in filters.collect()
        for row in cast.where(text).collect()
    ]
    assert found == sorted(wanted)
    assert len({number for _, number in wanted}) == 3

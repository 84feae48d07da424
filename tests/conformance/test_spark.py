"""The conformance cases through the Spark face, batch and streaming: one query for each file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from tests.conformance.cases import FILES, Case, CaseFile, Refused, read_filter
from tests.conformance.frames import publications_frame, publications_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

EACH_FILE = [pytest.param(file, id=file.stem) for file in FILES if file.cases_for("spark")]


def _filters(spark: "SparkSession", file: CaseFile, cases: list[Case]) -> "DataFrame":
    """All filters of a file, with ids that begin with the number of their case."""
    schema = file.schema()
    rows = [
        (f"{number}|{id_}", source if isinstance(source, str) else str(read_filter(source, schema)))
        for number, case in enumerate(cases)
        for id_, source in case.filters.items()
    ]
    return spark.createDataFrame(rows, "id string, filter string")


def _options(file: CaseFile) -> dict[str, Any]:
    """Declared domains and steps are on where the file declares some."""
    return {"schema": file.schema()} if file.has_domains() else {}


def _check(cases: list[Case], matched: "DataFrame") -> None:
    """Each publication has one row for each filter of its case that it should match."""
    found: dict[tuple[int, int], list[str]] = {}
    for case, row, id_ in matched.select("case_number", "row_number", "filter_id").collect():
        if id_.startswith(f"{case}|"):
            found.setdefault((case, row), []).append(id_.partition("|")[2])
    wrong = []
    for number, case in enumerate(cases):
        for row, expected in enumerate(case.expected):
            ids = sorted(found.get((number, row), []))
            if ids != ([] if isinstance(expected, Refused) else expected):
                wrong.append((case.name, case.filters, case.publications[row], ids))
    assert not wrong


@pytest.mark.parametrize("file", EACH_FILE)
def test_batch(spark: "SparkSession", file: CaseFile) -> None:
    from wherecast.spark import match

    cases = file.cases_for("spark")
    publications = publications_frame(spark, file, cases)

    _check(cases, match(publications, _filters(spark, file, cases), **_options(file)))


@pytest.mark.parametrize("file", EACH_FILE)
def test_streaming(spark: "SparkSession", file: CaseFile, tmp_path: Path) -> None:
    from wherecast.spark import match

    cases = file.cases_for("spark")
    table = publications_table(file, cases)
    (tmp_path / "publications").mkdir()
    pq.write_table(table, tmp_path / "publications" / "part.parquet")
    columns = publications_frame(spark, file, []).schema
    stream = spark.readStream.schema(columns).parquet(str(tmp_path / "publications"))

    matched = match(stream, _filters(spark, file, cases), **_options(file))
    query = (
        matched.writeStream.format("memory")
        .queryName(f"conformance_{file.stem}")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()

    _check(cases, spark.table(f"conformance_{file.stem}"))
    spark.catalog.dropTempView(f"conformance_{file.stem}")

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

AS_WRITTEN = ("datetimeRebaseMode", "CORRECTED")  # else Spark 3.5 refuses times before 1900


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
    enforced = {"schema": file.schema()} if file.has_domains() else {}
    return {**enforced, "now": file.now}


def _matched(
    publications: "DataFrame", filters: "DataFrame", options: dict[str, Any]
) -> "DataFrame":
    """The matches as rows and as arrays, by every way that this Spark has, side by side."""
    from pyspark.sql import functions as fn

    from wherecast.pipeline.spark import match_query, spark_runner
    from wherecast.spark import compile_filters, match

    compiled = compile_filters(filters, options.get("schema", publications.schema))
    ways = ("whole", "columns") if spark_runner.has_columns_way() else ("whole",)
    parts = []
    with pytest.MonkeyPatch.context() as patch:
        for way in ways:
            patch.setattr(match_query, "_choose_way", lambda *_, way=way: way)
            rows = match(publications, compiled, **options)
            arrays = match(publications, compiled, output="arrays", **options)
            exploded = arrays.withColumn("filter_id", fn.explode("filter_ids"))
            for output, frame in (("rows", rows), ("arrays", exploded)):
                columns = ["case_number", "row_number", "filter_id"]
                parts.append(frame.select(fn.lit(f"{output}, {way}").alias("how"), *columns))
    together = parts[0]
    for part in parts[1:]:
        together = together.unionAll(part)
    return together


def _check(cases: list[Case], matched: "DataFrame") -> None:
    """Each publication has one row for each filter of its case that it should match."""
    found: dict[str, dict[tuple[int, int], list[str]]] = {}
    for how, case, row, id_ in matched.collect():
        own = found.setdefault(how, {})
        if id_.startswith(f"{case}|"):
            own.setdefault((case, row), []).append(id_.partition("|")[2])
    wrong = []
    for how, own in found.items():
        for number, case in enumerate(cases):
            for row, expected in enumerate(case.expected):
                ids = sorted(own.get((number, row), []))
                if ids != ([] if isinstance(expected, Refused) else expected):
                    wrong.append((how, case.name, case.filters, case.publications[row], ids))
    assert not wrong
    assert len(found) in (2, 4)


@pytest.mark.parametrize("file", EACH_FILE)
def test_batch(spark: "SparkSession", file: CaseFile) -> None:
    cases = file.cases_for("spark")
    publications = publications_frame(spark, file, cases)

    _check(cases, _matched(publications, _filters(spark, file, cases), _options(file)))


@pytest.mark.parametrize("file", EACH_FILE)
def test_streaming(spark: "SparkSession", file: CaseFile, tmp_path: Path) -> None:
    cases = file.cases_for("spark")
    table = publications_table(file, cases)
    (tmp_path / "publications").mkdir()
    pq.write_table(table, tmp_path / "publications" / "part.parquet")
    columns = publications_frame(spark, file, []).schema
    stream = (
        spark.readStream.schema(columns).option(*AS_WRITTEN).parquet(str(tmp_path / "publications"))
    )

    matched = _matched(stream, _filters(spark, file, cases), _options(file))
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

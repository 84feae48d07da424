"""The publications of a conformance file as a Spark DataFrame: nested names become structs."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tests.conformance.cases import Case, CaseFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TYPES = {
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "date": pa.date32(),
}

Tree = dict[str, "pa.DataType | Tree"]


def publications_table(file: CaseFile, cases: list[Case]) -> pa.Table:
    """All publications of some cases, with the numbers of their case and row in it."""
    tree: Tree = {"case_number": pa.int64(), "row_number": pa.int64()}
    for name, declared in file.attributes.items():
        *parents, leaf = name.split(".")
        _descend(tree, parents)[leaf] = _type(declared)
    rows = [
        _row(publication, tree) | {"case_number": case_number, "row_number": row_number}
        for case_number, case in enumerate(cases)
        for row_number, publication in enumerate(case.publications)
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema(_fields(tree)))


def _type(declared: Any) -> pa.DataType:
    """The type of the column of an attribute."""
    if isinstance(declared, str):
        element = declared.removeprefix("array<").removesuffix(">")
        return TYPES[declared] if element == declared else pa.list_(TYPES[element])
    if declared["type"] == "decimal":
        return pa.decimal128(18, declared["scale"])
    return TYPES[declared["type"]]


def publications_frame(spark: "SparkSession", file: CaseFile, cases: list[Case]) -> "DataFrame":
    """The same as a DataFrame with one partition; a time without a zone stays one."""
    return frame_of(spark, publications_table(file, cases)).coalesce(1)


def frame_of(spark: "SparkSession", table: pa.Table) -> "DataFrame":
    """A table as a DataFrame: Spark 3.5 takes rows only, and Connect needs the types of no rows."""
    from pyspark.sql.pandas.types import from_arrow_schema

    columns = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    return spark.createDataFrame(table.to_pylist() if spark.version < "4" else table, columns)


def _descend(tree: Tree, path: list[str]) -> Tree:
    for part in path:
        tree = tree.setdefault(part, {})
    return tree


def _fields(tree: Tree) -> list[pa.Field]:
    return [
        pa.field(name, pa.struct(_fields(type_)) if isinstance(type_, dict) else type_)
        for name, type_ in tree.items()
    ]


def _row(publication: dict[str, Any], tree: Tree) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in publication.items():
        _put(row, name.split("."), value, tree)
    return row


def _put(row: dict[str, Any], path: list[str], value: Any, tree: Tree) -> None:
    """Sets a nested field; a record is merged with what is there already."""
    *parents, leaf = path
    for part in parents:
        row, tree = row.setdefault(part, {}), tree[part]
    if isinstance(value, dict):
        inner = row.setdefault(leaf, {})
        for name, field in value.items():
            _put(inner, name.split("."), field, tree[leaf])
    else:
        row[leaf] = _value(value, tree[leaf])


def _value(value: Any, type_: "pa.DataType | Tree") -> Any:
    if value is None:
        return None
    if type_ == TYPES["date"]:
        return date.fromisoformat(value)
    if type_ == TYPES["timestamp_ntz"]:
        return datetime.fromisoformat(value)
    if type_ == TYPES["timestamp"]:
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if isinstance(type_, pa.Decimal128Type):
        return Decimal(str(value))
    if type_ == TYPES["int"]:
        return int(value)
    return value

import pyarrow as pa

from wherecast.columns import Rejection
from wherecast.columns.decoded import DecodedColumn, assemble
from wherecast.columns.value_columns import open_column
from wherecast.model import Problem, Schema

SCHEMA = Schema.from_dict({"a": "int"})


def test_rows_with_a_problem_are_left_out_and_the_others_keep_their_numbers() -> None:
    column = DecodedColumn(pa.array([1, None, 3, 4]), ((1, Problem("wrong_type", "bad a", "a")),))
    found = assemble(SCHEMA, [column], {}, 4, [(3, Problem("malformed", "bad row"))])
    assert found.batch.to_pydict() == {"a": [1, 3]}
    assert found.rows.tolist() == [0, 2]
    assert found.rows.dtype == "int64"
    assert found.rejected == (
        Rejection(1, "wrong_type", "bad a", "a"),
        Rejection(3, "malformed", "bad row", None),
    )


def test_no_rows_are_an_empty_batch_of_the_schema() -> None:
    found = assemble(SCHEMA, [DecodedColumn(pa.array([], pa.int64()))], {}, 0)
    assert found.batch.num_rows == 0
    assert found.batch.schema.names == ["a"]


def test_undeclared_columns_are_sorted_and_those_of_bad_rows_only_are_left_out() -> None:
    extra = {name: open_column(name, values) for name, values in _UNDECLARED.items()}
    problems = [(1, Problem("malformed", "bad row"))]
    found = assemble(SCHEMA, [DecodedColumn(pa.array([1, 2]))], extra, 2, problems)
    assert found.batch.schema.names == ["a", "y", "z"]


_UNDECLARED: dict[str, list[object]] = {"z": ["t", None], "only_bad": [None, 1.0], "y": [1, True]}


def test_an_open_schema_that_declares_nothing_keeps_its_number_of_rows() -> None:
    found = assemble(Schema((), open=True), [], {}, 3, [(1, Problem("malformed", "bad row"))])
    assert found.batch.num_rows == 2
    assert found.batch.num_columns == 0
    assert found.rows.tolist() == [0, 2]

"""The stages, one by one."""

import pyarrow as pa

from wherecast import Index, Schema
from wherecast.pipeline.stages.batch_stages import match, validate

SCHEMA = Schema.from_dict({"no2": {"type": "float", "max": 1000}, "city": "string"})
BATCH = pa.RecordBatch.from_pylist(
    [
        {"no2": 45.0, "city": "Zagreb", "other": 1},
        {"no2": 1001.0, "city": "Split", "other": 2},
        {"no2": None, "city": "Zagreb", "other": 3},
    ]
)


def test_validate_tells_good_rows_from_dead_letters() -> None:
    valid = validate(BATCH, SCHEMA)

    assert valid.batch.to_pylist() == [
        {"no2": 45.0, "city": "Zagreb"},
        {"no2": None, "city": "Zagreb"},
    ]
    assert valid.rows.tolist() == [0, 2]
    (letter,) = valid.dead_letters
    assert letter.row == 1
    assert letter.reason == "attribute no2: 1001.0 is above its maximum 1000.0"


def test_a_dead_letter_has_every_problem_of_its_row() -> None:
    schema = Schema.from_dict({"a": {"type": "int", "max": 1}, "b": {"type": "int", "max": 1}})

    (letter,) = validate(pa.RecordBatch.from_pylist([{"a": 2, "b": 3}]), schema).dead_letters

    assert [problem.attribute for problem in letter.problems] == ["a", "b"]
    assert "; " in letter.reason


def test_match_speaks_of_the_good_rows() -> None:
    index = Index(SCHEMA)
    index.add_all({0: "no2 > 40", 1: "city = 'Zagreb'"})

    assert match(validate(BATCH, SCHEMA), index).to_pylist() == [[0, 1], [1]]

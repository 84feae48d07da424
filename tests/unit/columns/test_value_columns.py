from datetime import UTC, datetime
from decimal import Decimal
from math import nan

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from wherecast.columns.arrow_schema import ARROW_TYPES, OPEN_TYPE
from wherecast.columns.value_columns import column_of, one_array, open_column
from wherecast.model import Attribute, PublicationError
from wherecast.model.values import Type


def read(kind: Type, values: list[object]) -> tuple[list[object], list[tuple[int, str]]]:
    column = column_of(Attribute("a", kind), values)
    assert column.array.type == ARROW_TYPES[kind]
    array = column.array.cast(pa.int64()) if kind == "timestamp" else column.array
    return array.to_pylist(), [(row, problem.code) for row, problem in column.problems]


@pytest.mark.parametrize(
    ("kind", "given", "stored"),
    [
        ("int", [2**53 + 1, None, -(2**63)], [2**53 + 1, None, -(2**63)]),
        ("int", [5.0, 7, Decimal(3), np.int8(4)], [5, 7, 3, 4]),
        ("float", [1.5, None], [1.5, None]),
        ("float", [1, 2.5, 2**53 + 1, 2**70], [1.0, 2.5, 2.0**53, 2.0**70]),
        ("float", [Decimal("0.1"), np.float32(0.5)], [0.1, 0.5]),
        ("bool", [True, None, False], [True, None, False]),
        ("bool", [np.True_], [True]),
        ("string", ["", "a\0b", "\U0001f600", None], ["", "a\0b", "\U0001f600", None]),
        ("string", [np.str_("x"), "y"], ["x", "y"]),
        ("timestamp", ["1970-01-01T00:00:01Z", "1970-01-01", None], [1_000_000, 0, None]),
        ("timestamp", [datetime(1970, 1, 2, tzinfo=UTC), "1970-01-01"], [86_400_000_000, 0]),
        ("int", [None, None], [None, None]),
        ("int", [], []),
    ],
)
def test_values_become_the_attribute_s_type(
    kind: Type, given: list[object], stored: list[object]
) -> None:
    assert read(kind, given) == (stored, [])


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        ("int", True, "wrong_type"),
        ("int", 5.5, "wrong_type"),
        ("int", "5", "wrong_type"),
        ("int", 2**63, "out_of_range"),
        ("int", 2.0**53 + 2, "out_of_range"),
        ("int", nan, "not_finite"),
        ("float", True, "wrong_type"),
        ("float", "1", "wrong_type"),
        ("float", 10**400, "out_of_range"),
        ("bool", 1, "wrong_type"),
        ("bool", "true", "wrong_type"),
        ("string", 1, "wrong_type"),
        ("string", "\ud800", "malformed"),
        ("timestamp", "2026-02-30", "bad_time"),
        ("timestamp", "noon", "bad_time"),
        ("timestamp", 5, "wrong_type"),
        ("int", [1], "wrong_type"),
        ("int", np.array([1, 2]), "wrong_type"),
        ("int", Decimal("sNaN"), "wrong_type"),
        ("float", np.array([1, 2]), "wrong_type"),
        ("timestamp", pd.NaT, "wrong_type"),
    ],
)
def test_a_bad_value_gets_a_verdict_and_its_neighbours_are_kept(
    kind: Type, value: object, code: str
) -> None:
    fine = {"int": 1, "float": 1.0, "bool": True, "string": "x", "timestamp": "1970-01-01"}[kind]
    stored = 0 if kind == "timestamp" else fine
    assert read(kind, [fine, value, None, fine]) == ([stored, None, None, stored], [(1, code)])


def test_nan_of_a_python_row_is_a_value() -> None:
    column = column_of(Attribute("a", "float"), [nan, None])
    assert column.array.null_count == 1
    assert np.isnan(column.array[0].as_py())


def test_a_message_names_the_attribute() -> None:
    column = column_of(Attribute("n.x", "int"), [True])
    assert column.problems[0][1].message == "attribute n.x: needs an int, not true"


def test_an_undeclared_column_holds_numbers_texts_and_truths_apart() -> None:
    column = open_column("x", [1, 2.5, "t", True, None, [1], 2**70])
    assert column.array.type == OPEN_TYPE
    assert column.array.to_pylist() == [
        {"number": 1.0, "text": None, "truth": None},
        {"number": 2.5, "text": None, "truth": None},
        {"number": None, "text": "t", "truth": None},
        {"number": None, "text": None, "truth": True},
        None,
        None,
        {"number": 2.0**70, "text": None, "truth": None},
    ]
    assert [(row, problem.code) for row, problem in column.problems] == [(5, "wrong_type")]


def test_text_beyond_one_column_is_an_error() -> None:
    with pytest.raises(PublicationError, match="2 GiB"):
        one_array(pa.chunked_array([["a"], ["b"]]))

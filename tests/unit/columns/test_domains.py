from decimal import Decimal
from math import inf, nan

import numpy as np
import pyarrow as pa
import pytest

from wherecast.columns.arrow_schema import ARROW_TYPES
from wherecast.columns.domains import canonical_value, check_domain
from wherecast.model import Attribute
from wherecast.model.values import ValueProblem, canonical


def judged(
    attribute: Attribute, values: list[object]
) -> tuple[list[object], list[tuple[int, str]]]:
    column = check_domain(attribute, pa.array(values, ARROW_TYPES[attribute.type]))
    assert column.array.type == ARROW_TYPES[attribute.type]
    return column.array.to_pylist(), [(row, problem.code) for row, problem in column.problems]


def test_without_a_domain_the_column_is_the_same_one() -> None:
    array = pa.array([1.0, nan, None])
    assert check_domain(Attribute("a", "float"), array).array is array


def test_bounds_are_inclusive_and_missing_values_pass() -> None:
    attribute = Attribute("a", "float", 0.0, 10.0)
    values = [0.0, 10.0, -0.1, 10.1, None, nan, inf, -0.0]
    assert judged(attribute, values) == (
        [0.0, 10.0, None, None, None, None, None, -0.0],
        [(2, "out_of_range"), (3, "out_of_range"), (5, "out_of_range"), (6, "out_of_range")],
    )


def test_int_bounds_are_exact_beyond_doubles() -> None:
    attribute = Attribute("a", "int", 2**53 + 1, None)
    assert judged(attribute, [2**53, 2**53 + 1, 2**63 - 1]) == (
        [None, 2**53 + 1, 2**63 - 1],
        [(0, "out_of_range")],
    )


def test_strings_outside_the_listed_values_are_refused_with_the_list() -> None:
    attribute = Attribute("level", "string", values=("low", "high"))
    column = check_domain(attribute, pa.array(["low", None, "mid"]))
    assert column.array.to_pylist() == ["low", None, None]
    [(row, problem)] = column.problems
    assert (row, problem.code, problem.attribute) == (2, "not_listed", "level")
    assert "'mid'" in problem.message
    assert "low, high" in problem.message


@pytest.mark.parametrize(
    ("step", "origin", "given", "rounded"),
    [
        ("0.1", None, [0.05, 0.15, 0.25, -0.05, 0.30000000000000004], [0.1, 0.2, 0.3, 0.0, 0.3]),
        ("0.1", 0.05, [0.1, 0.09, 0.2], [0.15, 0.05, 0.25]),
        ("2.5", -10.0, [-8.75, -8.76, 1e6], [-7.5, -10.0, 1e6]),
        ("1e-20", None, [1.0, None], [1.0, None]),
        ("1e300", None, [1.0, 6e299], [0.0, 1e300]),
        ("0.1", None, [1e22, 123456789012345.67], [1e22, 123456789012345.7]),
    ],
)
def test_floats_are_rounded_to_the_nearest_step_ties_upward(
    step: str, origin: float | None, given: list[object], rounded: list[object]
) -> None:
    attribute = Attribute("a", "float", origin, None, Decimal(step))
    assert judged(attribute, given) == (rounded, [])


def test_bounds_are_checked_before_rounding() -> None:
    attribute = Attribute("a", "float", 0.0, 1.0, Decimal("0.3"))
    assert judged(attribute, [1.0, 1.04]) == ([0.9, None], [(1, "out_of_range")])


def test_ints_are_rounded_exactly_at_any_size() -> None:
    attribute = Attribute("a", "int", None, None, Decimal(10))
    values = [4, 5, -5, -6, 2**60 + 3, -(2**63) + 8, None]
    rounded = [canonical(attribute, v) for v in values if v is not None]
    assert judged(attribute, values) == ([*rounded, None], [])
    assert judged(attribute, [2**63 - 1]) == ([None], [(0, "out_of_range")])


def test_many_random_doubles_agree_with_the_scalar_rule() -> None:
    rng = np.random.default_rng(7)
    numbers = np.concatenate(
        [
            rng.uniform(-1e3, 1e3, 300),
            rng.integers(-2000, 2000, 300) / 40,
            10 ** rng.uniform(0, 17, 99),
        ]
    )
    for step in ("0.1", "0.05", "0.003", "7", "12.5"):
        for origin in (None, -3.3, 0.025):
            attribute = Attribute("a", "float", origin, None, Decimal(step))
            kept = [x for x in numbers.tolist() if origin is None or x >= origin]
            expected = [canonical(attribute, x) for x in kept]
            assert judged(attribute, kept) == (expected, [])


def test_a_step_that_is_no_double_is_refused() -> None:
    attribute = Attribute("a", "float", None, None, Decimal("1e308"))
    with pytest.raises(ValueProblem) as caught:
        canonical_value(attribute, 1.79e308)
    assert caught.value.code == "out_of_range"
    assert judged(attribute, [1.79e308, 1e308]) == ([None, 1e308], [(0, "out_of_range")])

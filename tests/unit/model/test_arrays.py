"""Arrays: which values are arrays, and the canonical array."""

import datetime as dt
from typing import Any

import numpy as np
import pytest

from wherecast.model import Attribute, Limits, PublicationError, Schema, SchemaError
from wherecast.model.arrays import canonical_array, elements_of
from wherecast.model.values import ELEMENTS, TYPES, ValueProblem

TAGS = Attribute("tags", "array<string>")


def test_the_element_of_each_type() -> None:
    for type_ in TYPES:
        attribute = Attribute("x", type_)
        assert attribute.element == ELEMENTS.get(type_)
        assert attribute.kind == type_
    assert TAGS.element_attribute() == Attribute("tags", "string")


@pytest.mark.parametrize(
    ("value", "elements"),
    [
        ([1, 2], [1, 2]), ((1,), (1,)), ([], []), (np.array([1, 2]), [1, 2]),
        (np.array(["a"]), ["a"]), (np.array([["a"]]), [["a"]]),
        (np.array(["a", None], object), ["a", None]),
        ("ab", None), ({"a": 1}, None), ({1}, None), (5, None), (b"a", None), (np.int64(5), None),
        (np.array(5), None), (np.array(["2026-01-01"], "datetime64[ns]"), None), (iter([1]), None),
    ],
)  # fmt: skip
def test_the_values_that_are_arrays(value: Any, elements: Any) -> None:
    assert elements_of(value) == elements


def test_a_canonical_array_is_a_tuple() -> None:
    assert canonical_array(TAGS, ["a", None], 2) == ("a", None)
    found = canonical_array(Attribute("x", "array<float>"), np.array([1, 2]), 2)
    assert found == (1.0, 2.0)
    assert {type(one) for one in found} == {float}


@pytest.mark.parametrize(
    ("value", "code", "element"),
    [
        ("a", "wrong_type", None), ([1, 2, 3], "too_many_elements", None),
        (["a", 1], "wrong_type", 1),
        (["a", ["b"]], "wrong_type", 1), ([dt.date(2026, 1, 1)], "wrong_type", 0),
    ],
)  # fmt: skip
def test_a_problem_names_its_place(value: Any, code: str, element: int | None) -> None:
    with pytest.raises(ValueProblem) as caught:
        canonical_array(TAGS, value, 2)
    assert (caught.value.code, caught.value.element) == (code, element)


def test_a_schema_reads_arrays_within_its_limits() -> None:
    schema = Schema.from_dict({"a.tags": "array<string>"})
    assert schema.read({"a": {"tags": ["x"]}}) == {"a.tags": ("x",)}
    assert schema.read({"a": {"tags": None}}) == {}
    with pytest.raises(
        PublicationError, match=r"a.tags: has 2 elements, the limit array_elements_max is 1"
    ):
        schema.read({"a.tags": ["x", "y"]}, Limits(array_elements_max=1))  # fmt: skip


@pytest.mark.parametrize("key", ["min", "max", "step", "values", "scale"])
def test_arrays_have_no_domain(key: str) -> None:
    given = {"tags": {"type": "array<int>", key: ["a"] if key == "values" else 1}}
    with pytest.raises(SchemaError, match=rf"attribute tags: {key} is ") as caught:
        Schema.from_dict(given)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("type_", ["array<bool>", "array", "array<array<int>>", "array<timestamp>"])
def test_other_arrays_are_unknown_types(type_: str) -> None:
    with pytest.raises(SchemaError, match=f"unknown type {type_}; (types are|did you mean)"):
        Schema.from_dict({"tags": type_})

"""`Filter.plan`: what is indexed, what is checked afterwards, and which formulas are computed."""

from dataclasses import FrozenInstanceError
from itertools import product

import pytest

from wherecast.language import Filter, FilterPlan
from wherecast.model import Schema

SCHEMA = Schema.from_dict(
    {"a": "int", "b": "int", "x": "float", "y": "float", "s": "string", "lat": "float",
     "lon": "float", "ok": "bool"}
)  # fmt: skip
ROWS = [
    {"a": a, "b": b, "x": x, "y": 5.0, "s": s, "ok": a == 1, "lat": 1.0, "lon": x}
    for a, b, x, s in product((None, 1, 2), (1, 3), (2.0, 5.0), (None, "x", "ab", "aXb"))
]
CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "a > 1 AND s = 'x'": (("a > 1 AND s = 'x'",), (), ()),
    "NOT (a = 1 AND b = 3)": (("a <> 1", "b <> 3"), (), ()),
    "s LIKE 'a%b' AND a > 1": (("a > 1",), ("s LIKE 'a%b'",), ()),
    "a < b": (("TRUE",), ("a < b",), ()),
    "a + b > 2": (("a + b > 2",), (), ("a + b",)),
    "a + b > 2 AND s = 'x'": (("s = 'x'",), ("a + b > 2",), ("a + b",)),
    "geo_distance(lat, lon, 1, 2) < 500 OR a IS NULL": (
        ("geo_distance(lat, lon, 1.0, 2.0) < 500.0", "a IS NULL"),
        ("geo_distance(lat, lon, 1.0, 2.0) < 500.0",),
        (),
    ),
    "s = 'x' AND (x > 3 OR (y > 4 AND (a = 2 OR b = 3)))": (
        (
            "s = 'x' AND x > 3.0",
            "s = 'x' AND a = 2 AND y > 4.0",
            "s = 'x' AND b = 3 AND y > 4.0",
        ),
        ("x > 3.0", "a = 2", "b = 3", "y > 4.0"),
        (),
    ),
    "a > 5 AND a < 3": ((), (), ()),
    "(a > 5 AND a < 3) OR b = 1": (("b = 1",), (), ()),
    "TRUE": (("TRUE",), (), ()),
    "FALSE": ((), (), ()),
    "a = NULL AND lower(s) = 'x'": ((), (), ()),
    "CASE WHEN a = 1 THEN b + 1 ELSE b * 2 END > 3 AND ok": (
        ("ok = TRUE",),
        ("CASE WHEN a = 1 THEN b + 1 ELSE b * 2 END > 3",),
        ("CASE WHEN a = 1 THEN b + 1 ELSE b * 2 END",),
    ),
}


@pytest.mark.parametrize(("text", "wanted"), CASES.items(), ids=list(CASES))
def test_a_plan_names_what_is_indexed_checked_and_computed(
    text: str, wanted: tuple[tuple[str, ...], ...]
) -> None:
    plan = Filter(text, SCHEMA).plan
    assert (plan.indexed, plan.checked, plan.formulas) == wanted


@pytest.mark.parametrize("text", CASES)
def test_one_of_the_indexed_conjunctions_holds_wherever_the_filter_does(text: str) -> None:
    found = Filter(text, SCHEMA)
    conjunctions = [Filter(one, SCHEMA) for one in found.plan.indexed]
    for row in ROWS:
        candidate = any(one.matches(row) for one in conjunctions)
        assert candidate or not found.matches(row)
        if not found.plan.checked:
            assert candidate == found.matches(row)


def test_a_plan_is_printed_in_lines() -> None:
    assert str(Filter("a + b > 2 AND (s = 'x' OR b = 3)", SCHEMA).plan) == (
        "indexed   s = 'x'\n          b = 3\nchecked   a + b > 2\nformulas  a + b"
    )
    assert str(Filter("a > 5 AND a < 3", SCHEMA).plan) == (
        "indexed   nothing, since the filter can never match"
    )


def test_a_plan_cannot_be_changed_and_is_made_once() -> None:
    found = Filter("a > 1", SCHEMA)
    with pytest.raises(FrozenInstanceError):
        found.plan.indexed = ()  # type: ignore[misc]
    assert found.plan is found.plan
    assert found.plan == FilterPlan(("a > 1",), (), ())


def test_an_explanation_has_the_plan_of_its_filter() -> None:
    found = Filter("a > 1", SCHEMA)
    assert found.explain({"a": 1}).plan is found.plan

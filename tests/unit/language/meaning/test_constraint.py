from typing import Any

import pytest

from wherecast.language import Filter
from wherecast.language.meaning.constraint import Constraint, allows, describe, intersect
from wherecast.language.meaning.keys import float_key
from wherecast.model import Schema

SCHEMA = Schema.from_dict({"i": "int", "x": "float", "s": "string", "b": "bool", "t": "timestamp"})


def constraint(text: str) -> Constraint:
    (conjunction,) = Filter(text, SCHEMA).normal.conjunctions
    (found,) = conjunction.constraints
    return found


def fields(text: str) -> dict[str, Any]:
    """What a constraint says beside its attribute."""
    found = constraint(text)
    plain = Constraint(found.attribute)
    return {
        name: getattr(found, name)
        for name in ("presence", "low", "high", "values", "excluded")
        if getattr(found, name) != getattr(plain, name)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i > 10 AND i < 20", {"low": 11, "high": 19}),
        ("i BETWEEN 1 AND 9 AND i >= 5", {"low": 5, "high": 9}),
        ("i = 5", {"low": 5, "high": 5}),
        ("i IN (5)", {"low": 5, "high": 5}),
        ("i IN (9, 1, 5, 5)", {"values": (1, 5, 9)}),
        ("i IN (1, 5, 9) AND i > 1", {"values": (5, 9)}),
        ("i IN (1, 5, 9) AND i <> 5", {"values": (1, 9)}),
        ("i IN (1, 5) AND i IN (5, 9)", {"low": 5, "high": 5}),
        ("i IN (1, 2.5)", {"low": 1, "high": 1}),
        ("i <> 5", {"excluded": (5,)}),
        ("i <> 2.5", {}),
        ("i NOT IN (9, 5) AND i < 7", {"high": 6, "excluded": (5,)}),
        ("i > 2.5", {"low": 3}),
        ("i >= -9223372036854775808", {}),
        ("i < 9223372036854775808", {}),
        ("i IS NULL", {"presence": "missing"}),
        ("i IS NOT NULL", {}),
        ("i IS NOT NULL AND i > 5", {"low": 6}),
        ("x > 0 AND x <= 1.5", {"low": 1, "high": float_key(1.5)}),
        ("x = -0.0", {"low": 0, "high": 0}),
        ("s = 'a'", {"values": ("a",)}),
        ("s IN ('b', 'a') AND s <> 'b'", {"values": ("a",)}),
        ("s > 'a' AND s <= 'b'", {"low": "a\0", "high": "b\0"}),
        ("s >= 'a' AND s < 'b'", {"low": "a", "high": "b"}),
        ("s LIKE 'ab'", {"values": ("ab",)}),
        ("s IN ('ab', 'cd') AND s LIKE 'a%'", {"values": ("ab",)}),
        ("lower(s) IN ('ab', 'cd') AND lower(s) LIKE 'c%'", {"values": ("cd",)}),
        ("i + 1 > 2 AND i + 1 < 9", {"low": 3, "high": 8}),
        ("b", {"low": 1}),
        ("NOT b", {"high": 0}),
        ("b <> TRUE", {"high": 0}),
        ("b IN (TRUE, FALSE)", {}),
        ("t > '1970-01-01'", {"low": 1}),
    ],
)
def test_predicates_on_one_attribute_are_intersected(text: str, expected: dict[str, Any]) -> None:
    assert fields(text) == expected


def test_an_attribute_and_what_is_derived_from_it_have_a_constraint_each() -> None:
    found = Filter("s IN ('ab', 'CD') AND lower(s) = 'cd'", SCHEMA)
    (conjunction,) = found.normal.conjunctions
    values = {one.attribute.name: one.values for one in conjunction.constraints}
    assert values == {"s": ("CD", "ab"), "lower(s)": ("cd",)}
    assert [text for text in ("ab", "CD", "cd") if found.matches({"s": text})] == ["CD"]


def test_a_set_is_never_its_hull_and_less_is_never_minus_one() -> None:
    assert not Filter("i IN (1, 9)", SCHEMA).matches({"i": 5})
    assert not allows(constraint("i IN (1, 9)"), 5)
    assert allows(constraint("x < 5"), float_key(4.999999999999999))


def test_patterns_are_kept_once_and_in_their_plainest_form() -> None:
    found = constraint("s LIKE 'ab%' AND s LIKE 'ab%' AND s LIKE '%c%' AND s LIKE 'a_' AND s > 'a'")
    assert [p.kind for p in found.patterns] == ["prefix", "contains", "like"]  # type: ignore[union-attr]
    assert found.low == "a\0"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("i > 5 AND i < 3", "i > 5 and i < 3 exclude each other"),
        ("i > 2 AND i < 3", "i > 2 and i < 3 exclude each other"),
        ("i BETWEEN 5 AND 3", "i BETWEEN 5 AND 3 has its bounds the wrong way round"),
        ("i = 2.5", "no value satisfies i = 2.5"),
        ("i IN (2.5, 3.5)", "no value satisfies i IN (2.5, 3.5)"),
        ("i > 9223372036854775807", "no value satisfies i > 9223372036854775807"),
        ("i < -9223372036854775808", "no value satisfies i < -9223372036854775808"),
        ("i = 5 AND i <> 5", "i = 5 and i <> 5 exclude each other"),
        ("i IS NULL AND i = 5", "i IS NULL and i = 5 exclude each other"),
        ("i IS NULL AND i IS NOT NULL", "i IS NULL and i IS NOT NULL exclude each other"),
        ("s = 'a' AND s = 'b'", "s = 'a' and s = 'b' exclude each other"),
        ("s = 'ab' AND s LIKE 'b%'", "s = 'ab' and s LIKE 'b%' exclude each other"),
        ("s > 'b' AND s < 'a'", "s > 'b' and s < 'a' exclude each other"),
        ("b AND NOT b", "b = TRUE and b <> TRUE exclude each other"),
        ("i NOT IN (1, NULL)", "NOT IN with NULL in the list is never true"),
        ("i = NULL", "a comparison with NULL is never true; write IS NULL or IS NOT NULL"),
        ("FALSE", "FALSE is never true"),
    ],
)
def test_what_excludes_itself_says_why(text: str, reason: str) -> None:
    filter = Filter(text, SCHEMA)
    assert filter.normal.conjunctions == ()
    assert filter.normal.impossible == (reason,)
    assert filter.warnings == (f"can never match: {reason}",)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("i > 5", "i < 9", {"low": 6, "high": 8}),
        ("i IN (1, 2, 3)", "i > 1", {"values": (2, 3)}),
        ("i <> 5", "i <> 6", {"excluded": (5, 6)}),
        ("i > 5", "i < 5", None),
        ("i = 5", "i IS NULL", None),
        ("i IS NULL", "i IS NULL", {"presence": "missing"}),
        ("s LIKE 'a%'", "s IN ('ab', 'b')", {"values": ("ab",)}),
        ("s = 'a'", "s = 'b'", None),
    ],
)
def test_intersecting_constraints(left: str, right: str, expected: dict[str, Any] | None) -> None:
    for one, other in ((left, right), (right, left)):
        both = intersect(constraint(one), constraint(other))
        if expected is None:
            assert both is None
        else:
            assert both is not None
            assert {name: getattr(both, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("i > 5 AND i < 9 AND i <> 7", "i >= 6 and i <= 8 and i <> 7"),
        ("s > 'a' AND s < 'b'", "s >= 'a\\x00' and s < 'b'"),
        ("i IN (1, 2)", "i in {1, 2}"),
        ("i IS NULL", "i is missing"),
        ("i IS NOT NULL", "i is present"),
        ("s LIKE 'a_%'", "s LIKE 'a_%'"),
    ],
)
def test_constraints_in_words(text: str, shown: str) -> None:
    assert describe(constraint(text)) == shown

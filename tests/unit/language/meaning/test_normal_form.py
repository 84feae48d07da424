from random import Random
from typing import Any

import pytest

from tests.seeds import run_seed
from wherecast.language import Filter
from wherecast.language.meaning import normal_form as module
from wherecast.language.meaning.constraint import allows, describe
from wherecast.language.meaning.index_plan import COVER_MAX
from wherecast.language.text.write import write
from wherecast.model import Limits, Schema

SCHEMA = Schema.from_dict({"a": "int", "b": "int", "c": "int", "s": "string", "ok": "bool"})


def shown(text: str) -> list[str]:
    """Each conjunction of a filter in words."""
    return [
        " & ".join([describe(c) for c in found.constraints] + [write(r) for r in found.residual])
        for found in Filter(text, SCHEMA).normal.conjunctions
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > 1 AND b > 2", ["a >= 2 & b >= 3"]),
        ("a > 1 OR b > 2", ["a >= 2", "b >= 3"]),
        ("(a = 1 OR b = 2) AND c = 3", ["a >= 1 and a <= 1 & c >= 3 and c <= 3",
                                        "b >= 2 and b <= 2 & c >= 3 and c <= 3"]),
        ("NOT (a > 1)", ["a <= 1"]),
        ("NOT (a > 1 AND b > 2)", ["a <= 1", "b <= 2"]),
        ("NOT (a > 1 OR b > 2)", ["a <= 1 & b <= 2"]),
        ("NOT NOT (a > 1)", ["a >= 2"]),
        ("NOT (a BETWEEN 1 AND 5)", ["a <= 0", "a >= 6"]),
        ("NOT (a IN (1, 2))", ["a <> 1 and a <> 2"]),
        ("NOT (a NOT IN (1, 2))", ["a in {1, 2}"]),
        ("NOT (a IS NULL)", ["a is present"]),
        ("NOT (s LIKE 'a_%')", ["s NOT LIKE 'a_%'"]),
        ("NOT (a < b)", ["a >= b"]),
        ("NOT (ok)", ["ok <= False"]),
        ("ok IS NOT TRUE", ["ok is missing", "ok <= False"]),
        ("NOT (a = 1 OR NOT (b = 2 AND c < a))", ["a <> 1 & b >= 2 and b <= 2 & c < a"]),
        ("TRUE", [""]),
        ("a > 1 OR TRUE", ["a >= 2", ""]),
        ("a > 1 OR (b > 2 AND b < 2)", ["a >= 2"]),
        ("NOT (a = NULL)", []),
        ("a < b AND b > 1 AND a < b", ["b >= 2 & a < b"]),
    ],
)  # fmt: skip
def test_normal_forms(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


def test_a_filter_that_can_sometimes_match_has_no_warning() -> None:
    filter = Filter("a > 1 OR (b > 2 AND b < 2)", SCHEMA)
    assert filter.normal.impossible == ("b > 2 and b < 2 exclude each other",)
    assert filter.warnings == ()


def test_at_most_three_reasons_are_given() -> None:
    text = " OR ".join(f"(a > {n} AND a < {n})" for n in range(10))
    (warning,) = Filter(text, SCHEMA).warnings
    assert warning.count("exclude each other") == 3


def test_an_explosion_is_counted_and_covered_without_being_expanded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hundred ORs of two under ANDs would be 2^100 conjunctions."""
    expanded: list[object] = []
    monkeypatch.setattr(module, "_expand", lambda part: expanded.append(part) or iter(()))
    text = " AND ".join(f"(a = {n} OR b = {n})" for n in range(100))
    found = Filter(f"({text}) OR c = 5", SCHEMA)
    assert not found.normal.is_exact
    assert 0 < len(found.normal.conjunctions) <= COVER_MAX
    assert expanded == []
    assert found.matches({"c": 5})
    assert not found.matches({"a": 1, "b": 2})


def test_a_cover_holds_wherever_the_filter_does() -> None:
    text = " AND ".join(f"(a = {n % 3} OR b <> {n} OR s LIKE 'x{n}%')" for n in range(12))
    found = Filter(f"({text}) AND (c = 1 OR ok)", SCHEMA)
    assert not found.normal.is_exact
    rng, verdicts = Random(run_seed()), set()
    for _ in range(500):
        row = {
            name: value
            for name, value in {
                "a": rng.randrange(3), "b": rng.randrange(20), "c": rng.randrange(2),
                "s": f"x{rng.randrange(12)}", "ok": rng.random() < 0.5,
            }.items()
            if rng.random() < 0.8
        }  # fmt: skip
        verdicts.add(found.matches(row))
        if found.matches(row):
            assert any(holds(one, row) for one in found.normal.conjunctions), row
    assert verdicts == {True, False}


def holds(conjunction: module.Conjunction, row: dict[str, Any]) -> bool:
    """Whether the constraints on one attribute each hold on a row."""
    assert not conjunction.residual
    for one in conjunction.constraints:
        value = row.get(one.attribute.name)  # keys of ints, bools and strings are the values
        if one.presence == "missing" or value is None or not allows(one, value):
            return False
    return True


def test_the_limit_itself_is_exact() -> None:
    text = " AND ".join("(a = 1 OR b = 2)" for _ in range(6))
    assert len(shown(text)) <= 64
    assert Filter(text, SCHEMA).normal.is_exact
    for found in (
        Filter(text, SCHEMA, Limits(conjunctions_max=63)),
        Filter(f"{text} AND c NOT BETWEEN 1 AND 2", SCHEMA),
    ):
        assert not found.normal.is_exact
        assert len(found.normal.conjunctions) <= COVER_MAX
        assert found.matches({"a": 1, "b": 5, "c": 3})
        assert not found.matches({"a": 2, "b": 1, "c": 3})


def test_a_constraint_stands_once_per_attribute_in_the_order_of_names() -> None:
    (conjunction,) = Filter("c = 1 AND a = 1 AND b < 5 AND b > 1", SCHEMA).normal.conjunctions
    assert [c.attribute.name for c in conjunction.constraints] == ["a", "b", "c"]

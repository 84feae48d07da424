import pytest

from wherecast.language import Filter
from wherecast.language.meaning import normal_form as module
from wherecast.language.meaning.constraint import describe
from wherecast.language.text.write import write
from wherecast.model import FilterError, Limits, Schema

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


def test_an_explosion_is_counted_and_refused_before_it_is_expanded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hundred ORs of two under ANDs would be 2^100 conjunctions."""
    expanded: list[object] = []
    monkeypatch.setattr(module, "_expand", lambda part: expanded.append(part) or iter(()))
    text = " AND ".join("(a = 1 OR b = 2)" for _ in range(100))
    with pytest.raises(FilterError) as caught:
        Filter(text, SCHEMA)
    assert f"the filter has {2**100} conjunctions" in caught.value.message
    assert caught.value.code == "limit"
    assert expanded == []


def test_the_limit_itself_is_allowed() -> None:
    text = " AND ".join("(a = 1 OR b = 2)" for _ in range(6))
    assert len(shown(text)) <= 64
    with pytest.raises(FilterError, match="the limit is 63"):
        Filter(text, SCHEMA, Limits(conjunctions_max=63))
    with pytest.raises(FilterError, match="128 conjunctions"):
        Filter(f"{text} AND c NOT BETWEEN 1 AND 2", SCHEMA)


def test_a_constraint_stands_once_per_attribute_in_the_order_of_names() -> None:
    (conjunction,) = Filter("c = 1 AND a = 1 AND b < 5 AND b > 1", SCHEMA).normal.conjunctions
    assert [c.attribute.name for c in conjunction.constraints] == ["a", "b", "c"]

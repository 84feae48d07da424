import pytest

from wherecast.language import Filter
from wherecast.model import FilterError, Schema

SCHEMA = Schema.from_dict(
    {"a": "int", "x": "float", "s": "string", "b": "bool", "t": "timestamp", "n.y": "int"}
)
OPEN = Schema.from_dict({}, open=True)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("NOT a = 1 AND x > 2", "(NOT (a = 1)) AND x > 2"),
        ("a = 1 OR a = 2 AND x > 3", "a = 1 OR (a = 2 AND x > 3)"),
        ("NOT b OR b", "(NOT b) OR b"),
        ("a NOT IN (1, 2)", "NOT (a IN (1, 2))"),
        ("s NOT LIKE 'a%'", "NOT (s LIKE 'a%')"),
        ("a BETWEEN 1 AND 2 AND x > 3", "(a BETWEEN 1 AND 2) AND (x > 3)"),
        ("a BETWEEN n.y AND 5", "a >= n.y AND a <= 5"),
        ("a BETWEEN NULL AND 5", "a >= NULL AND a <= 5"),
        ("5 >= a", "a <= 5"),
        ("- 5 < a", "a > -5"),
        ("a = - -5", "a = 5"),
        ("a = +5", "a = 5"),
        ("(a) = (5)", "a = 5"),
        ("! b", "NOT b"),
        ("a = 5L", "a = 5"),
        ("x = 5D", "x = 5"),
        ("`n`.`y` = 1", "`n.y` = 1"),
        ("b IS NOT FALSE", "NOT (b IS FALSE)"),
        ("s LIKE NULL", "NULL"),
        ("contains(s, NULL)", "NULL"),
        ("LOWER(s) = 'a'", "lower(s) = 'a'"),
        ("s IN ('a', NULL)", "s IN (NULL, 'a')"),
    ],
)
def test_the_same_meaning(text: str, same: str) -> None:
    assert Filter(text, SCHEMA).normal == Filter(same, SCHEMA).normal


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("3 BETWEEN a AND 5", "a predicate must name an attribute", None),
        ("a + 1 = 5", "the operation add is not in the language", 0),
        ("a = 1 + 1", "the operation add is not in the language", 4),
        ("a <=> 1", "not in the language", 0),
        ("a IS DISTINCT FROM 1", "not in the language", 0),
        ("a = 5F", "the type letters of numbers", 4),
        ("a = CAST('5' AS INT)", "casts", 9),
        ("a IN (n.y)", "IN takes constants only", 6),
        ("a IN (1, (2, 3))", "IN takes constants only", 10),
        ("s LIKE x", "LIKE needs a string constant", 7),
        ("s LIKE ANY ('a', 'b')", "LIKE needs a string constant", 12),
        ("lower(s) = s", "lower", 0),
        ("lower(upper(s)) = 'a'", "upper", 6),
        ("lower(a) = 'a'", "lower needs a string, a is int", 6),
        ("a IS 5", "IS takes NULL, TRUE or FALSE", 5),
        ("(a > 1) IS TRUE", "not in the language", 1),
        ("(a > 1) = TRUE", "not in the language", 1),
        ("a = 'x' || 'y'", "not in the language", 4),
        ("geo_distance(x, a, 91, 0) < 5", "a point is a latitude of -90 to 90", 19),
        ("geo_distance(x, a, 1) < 5", "takes two attributes and two numbers", 0),
        ("geo_distance(x, a, 1, 2) < x", "compared with metres", 0),
        ("geo_distance(x, s, 1, 2) < 5", "geo_distance needs a number, s is string", 16),
        ("a = b", "a is int and b is bool: they cannot be compared", 4),
        ("nope(a) = 1", "the function nope is not in the language", 0),
        ("a", "a is int, which is not a condition by itself", 0),
        ("'a'", "a constant is not a condition", 0),
        ("n = 1", "unknown attribute n", 0),
        ("n.y.z = 1", "unknown attribute n.y.z", 0),
    ],
)
def test_what_is_not_in_the_language(text: str, message: str, position: int | None) -> None:
    with pytest.raises(FilterError) as caught:
        Filter(text, SCHEMA)
    assert message in caught.value.message
    if position is not None:
        assert caught.value.position == position


def test_an_undeclared_name_takes_its_type_from_the_constant_beside_it() -> None:
    types = {
        "h > 2": "float",
        "h = 'x'": "string",
        "h = TRUE": "bool",
        "h": "bool",
        "h LIKE 'x'": "string",
        "h IN (NULL, 2)": "float",
        "h BETWEEN 'a' AND 'b'": "string",
    }
    for text, expected in types.items():
        (conjunction,) = Filter(text, OPEN).normal.conjunctions
        assert conjunction.constraints[0].attribute.type == expected, text
    with pytest.raises(FilterError, match="h needs a string"):
        Filter("h IN ('a', 5)", OPEN)
    with pytest.raises(FilterError, match="NaN is not a constant"):
        Filter("h = NaN", OPEN)

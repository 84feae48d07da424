from typing import Any

import pytest

from wherecast.language import Filter
from wherecast.language.meaning.formula import NOW
from wherecast.language.text.syntax_errors import OTHERS_MAX
from wherecast.model import FilterError, Schema, parse_time

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
        ("a = 1 + 1", "a = 2"),
        ("s = concat('x', 'y')", "s = 'xy'"),
        ("a IN (n.y)", "a = n.y"),
        ("a IN (1, n.y)", "a = 1 OR a = n.y"),
        ("a NOT IN (1, n.y)", "a <> 1 AND a <> n.y"),
        ("3 BETWEEN a AND n.y", "a <= 3 AND n.y >= 3"),
        ("a <=> NULL", "a IS NULL"),
        ("a IS NOT DISTINCT FROM 1", "a <=> 1"),
        ("NULL = NULL", "NULL"),
        ("1 = 2", "FALSE"),
        ("'a' < 'b'", "TRUE"),
        ("a = 1 / 0", "NULL"),
        ("lcase(s) = 'a'", "lower(s) = 'a'"),
        ("mod(a, 2) = 1", "a % 2 = 1"),
        ("if(b, a, 5) > 4", "CASE WHEN b THEN a ELSE 5 END > 4"),
    ],
)
def test_the_same_meaning(text: str, same: str) -> None:
    assert Filter(text, SCHEMA).normal == Filter(same, SCHEMA).normal


@pytest.mark.parametrize(
    ("text", "row", "verdict"),
    [
        ("a + 1 = 5", {"a": 4}, True),
        ("a + 1 = 5", {"a": 5}, False),
        ("a + 1 = 5", {}, None),
        ("a + 1 > 5", {"a": 2**63 - 1}, None),  # an overflow
        ("a % 2 = 0 OR a / 0 = 1", {"a": 3}, None),
        ("a / 2 = 1.5", {"a": 3}, True),
        ("a <=> 1", {"a": 1}, True),
        ("a <=> 1", {}, False),
        ("a <=> n.y", {}, True),
        ("a <=> n.y", {"a": 1}, False),
        ("a IS DISTINCT FROM 1", {}, True),
        ("a IS DISTINCT FROM 1", {"a": 1}, False),
        ("a IS DISTINCT FROM 1", {"a": 2}, True),
        ("a IN (n.y)", {"a": 1, "n": {"y": 1}}, True),
        ("a IN (1, n.y)", {"a": 2}, None),
        ("a NOT IN (1, n.y)", {"a": 1}, False),
        ("3 BETWEEN a AND 5", {"a": 3}, True),
        ("3 BETWEEN a AND 5", {"a": 4}, False),
        ("s LIKE lower(s)", {"s": "ab"}, True),
        ("s LIKE lower(s)", {"s": "aB"}, False),
        ("s RLIKE '^a+$'", {"s": "aa"}, True),
        ("s RLIKE '^a+$'", {"s": "ab"}, False),
        ("lower(s) = s", {"s": "aB"}, False),
        ("lower(s) = s", {}, None),
        ("lower(upper(s)) = 'a'", {"s": "A"}, True),
        ("(a > 1) IS TRUE", {"a": 2}, True),
        ("(a > 1) IS TRUE", {}, False),
        ("(a > 1) IS NOT TRUE", {}, True),
        ("(a > 1) IS UNKNOWN", {}, True),
        ("(a > 1) = TRUE", {"a": 2}, True),
        ("(a > 1) = TRUE", {}, None),
        ("(a > 1) = b", {"a": 1, "b": False}, True),
        ("CASE WHEN b THEN a ELSE 5 END > 4", {"a": 1}, True),
        ("CASE WHEN b THEN a END > 4", {"a": 5, "b": False}, None),
        ("CASE a WHEN 1 THEN 'x' ELSE 'y' END = 'x'", {"a": 1}, True),
        ("geo_distance(x, a, 1, 2) < x", {"x": 1.0, "a": 2}, True),
        ("geo_distance(x, a, 1, 2) < x", {"x": 2.0, "a": 2}, False),
        ("geo_distance(x, a, x, a) = 0", {"x": 2.0, "a": 2}, True),
        ("coalesce(s, 'none') = 'none'", {}, True),
        ("hour(t) BETWEEN 8 AND 16", {"t": "2026-05-01T16:59:59Z"}, True),
        ("hour(t) BETWEEN 8 AND 16", {"t": "2026-05-01T17:00:00Z"}, False),
        ("t + INTERVAL 1 MONTH < '2026-03-01'", {"t": "2026-01-31T00:00:00Z"}, True),
    ],
)
def test_what_filters_say_of_a_row(text: str, row: dict[str, Any], verdict: bool | None) -> None:
    found = Filter(text, SCHEMA)
    assert found.evaluate(SCHEMA.read(row)) is verdict
    assert Filter(str(found), SCHEMA) == found


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("t < now()", [True, True, False, False]),
        ("t <= current_timestamp", [True, True, True, False]),
        ("t > now() - INTERVAL 1 DAY", [False, True, True, True]),
        ("now() > t + INTERVAL 1 DAY", [True, False, False, False]),
        ("t + INTERVAL 1 DAY = now()", [False, False, False, False]),
        ("hour(now()) = 12", [True, True, True, True]),
    ],
)
def test_now_is_the_time_beside_the_values_of_a_row(text: str, verdicts: list[bool]) -> None:
    now = parse_time("2026-05-03T12:30:00Z")
    times = ["2026-05-01T00:00:00Z", "2026-05-03T00:00:00Z"]
    rows = [SCHEMA.read({"t": time}) for time in times] + [{"t": now}, {"t": now + 1}]
    found = Filter(text, SCHEMA)
    assert [found.evaluate({**row, NOW.name: now}) for row in rows] == verdicts
    assert "\0" not in str(found)
    assert Filter(str(found), SCHEMA) == found


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("a = 5F", "the type letters of numbers", 4),
        ("a = CAST('5' AS INT)", "casts", 4),
        ("a IN (1, (2, 3))", "a comma has no place here", 11),
        ("s LIKE x", "LIKE needs string here, not float", 7),
        ("s LIKE ANY ('a', 'b')", "LIKE ANY is not in the language", 7),
        ("s RLIKE 'a(?=b)'", "look-ahead", 8),
        ("lower(a) = 'a'", "lower needs string here, not int", 6),
        ("concat(s, a) = 'a'", "concat needs string here, not int", 10),
        ("lower(s, s) = 'a'", "lower takes 1 argument, not 2", 0),
        ("starts_with(s) = 'a'", "starts_with takes 2 arguments, not 1", 0),
        ("contains(s, 'a', 'b')", "contains takes 2 arguments, not 3", 0),
        ("lower(s) > 5", "lower(s) needs a string, not the number 5", 11),
        ("a + s > 5", "arithmetic needs numbers, not string", 2),
        ("-s = 5", "a number is needed, not string", 0),
        ("a + 1", "a + 1 is int, which is not a condition by itself", 0),
        ("1 + 1", "a constant is not a condition", 0),
        ("a > 1 > 2", "a comparison has two sides", 6),
        ("t - t > 5", "arithmetic needs numbers, not timestamp", 2),
        ("a IS 5", "IS takes NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM", 5),
        ("s = 'x' || 'y'", "|| is not in the language", 8),
        ("geo_distance(x, a, s, x) < 5", "geo_distance needs a number here, not string", 19),
        ("geo_distance(x, a, 91, 0) < 5", "a point is a latitude of -90 to 90", 19),
        ("geo_distance(x, a, 1) < 5", "takes two attributes and two numbers", 0),
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


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("s = Oslo", "write 'Oslo' for a string"),
        ("s IN ('a', Oslo)", "write 'Oslo' for a string"),
        ("Oslo = s", None),
        ("5 < Oslo", None),
        ("s = lower(Oslo)", None),
    ],
)
def test_a_word_where_a_constant_stands_is_rather_a_string(text: str, hint: str | None) -> None:
    with pytest.raises(FilterError, match="unknown attribute Oslo") as caught:
        Filter(text, SCHEMA)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("level = mdi", "write 'mid' for a string"),
        ("level IN ('low', HIGH)", "write 'high' for a string"),
        ("level = levl", "did you mean level?"),
    ],
)
def test_a_word_like_a_listed_value_is_that_value(text: str, hint: str) -> None:
    schema = Schema.from_dict({"level": {"type": "string", "values": ["low", "mid", "high"]}})
    with pytest.raises(FilterError, match="unknown attribute") as caught:
        Filter(text, schema)
    assert caught.value.hint == hint


def test_all_problems_of_a_filter_are_told_together() -> None:
    text = "s = Oslo AND (n + 1 > 2 OR lower(a) = 'x') AND a = 'five' AND a > 4"
    with pytest.raises(FilterError) as caught:
        Filter(text, SCHEMA)
    error = caught.value
    found = [text[one.position or 0 :].split()[0] for one in (error, *error.others)]
    assert found == ["Oslo", "n", "a)", "'five'"]
    assert str(error).count("^") == 4


def test_the_problems_of_a_filter_that_are_told_are_limited() -> None:
    with pytest.raises(FilterError) as caught:
        Filter(" OR ".join(f"n{number} > 1" for number in range(200)), SCHEMA)
    assert len(caught.value.others) == OTHERS_MAX


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

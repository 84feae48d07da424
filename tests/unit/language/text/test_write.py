import pytest
from sqlglot.dialects.spark import Spark

from wherecast.language import Filter
from wherecast.language.text.write import name, quoted
from wherecast.model import Schema

SCHEMA = Schema.from_dict(
    {
        "a": "int", "x": "float", "s": "string", "b": "bool", "t": "timestamp", "n.y": "int",
        "order": "int", "x-y": "int", "Žar": "string", "tick`s": "int", "1st": "int",
    }
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "a = 5", "a <> -5", "a < 2.5", "a >= 9223372036854775808", "x <= 1e+300", "x > 5e-324",
        "b = TRUE", "b <> FALSE", "t > TIMESTAMP '2026-05-01T12:30:00Z'",
        "t = TIMESTAMP '2026-05-01T12:30:00.000001Z'",
        "t < TIMESTAMP '9999-12-31T23:59:59-18:00'",
        "a BETWEEN 1 AND 5", "a IN (1, 2, NULL)", "a NOT IN (1)", "a IS NULL", "a IS NOT NULL",
        "s LIKE 'a%'", "s NOT LIKE 'a_'", "s ILIKE 'a%'", "s LIKE 'a!%' ESCAPE '!'",
        "s LIKE 'a%' ESCAPE '\\''", "startswith(s, 'a')", "NOT endswith(s, 'a')",
        "contains(lower(s), 'a')", "upper(s) IN ('A', 'B')", "lower(s) BETWEEN 'a' AND 'b'",
        "a < n.y", "geo_distance(x, a, 45.8, 15.9) < 500.0",
        "a = 1 AND b = TRUE AND s = 'x'", "a = 1 OR b = TRUE AND s = 'x'",
        "(a = 1 OR b = TRUE) AND s = 'x'", "NOT (a = 1)", "NOT (a = 1 AND x > 2.0)",
        "NOT (a = 1 OR x > 2.0) AND s = 'x'", "NOT NOT (a = 1)", "TRUE", "FALSE", "NULL",
        "NOT (a BETWEEN 1 AND 2)", "NOT (NOT (a = 1) AND a = 2)",
        "`order` = 1", "`x-y` = 1", "`Žar` = 'x'", "`tick``s` = 1", "`1st` = 1", "n.y = 1",
    ],
)  # fmt: skip
def test_an_expression_prints_as_it_was_written(text: str) -> None:
    filter = Filter(text, SCHEMA)
    assert str(filter) == text
    assert Filter(str(filter), SCHEMA) == filter


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 < a", "a > 5"),
        ("a == 5", "a = 5"),
        ("a != 5", "a <> 5"),
        ("A = 5", "a = 5"),
        ("(((a = 5)))", "a = 5"),
        ("a not between 1 and 2", "NOT (a BETWEEN 1 AND 2)"),
        ("b", "b = TRUE"),
        ("b IS FALSE", "b IS NOT NULL AND b = FALSE"),
        ("`n.y` = 1", "n.y = 1"),
        ("starts_with(s, 'a')", "startswith(s, 'a')"),
        ("x = -0.0", "x = 0.0"),
        ("a = 5.0", "a = 5"),
        ("t = '2026-05-01T12:00:00+02:00'", "t = TIMESTAMP '2026-05-01T10:00:00Z'"),
        ("a > 5 -- a comment", "a > 5"),
        ("a = 1 AND (a = 2 AND a = 3)", "a = 1 AND a = 2 AND a = 3"),
    ],
)
def test_other_ways_to_say_the_same(text: str, expected: str) -> None:
    assert str(Filter(text, SCHEMA)) == expected


@pytest.mark.parametrize("value", ["", "it's", 'say "x"', "a\\b", "a\nb", "\0", "😀", "%_", "\\"])
def test_any_string_is_quoted_so_that_it_reads_back(value: str) -> None:
    for text in (f"s = {quoted(value)}", f"s IN ({quoted(value)}, 'x')"):
        assert Filter(text, SCHEMA).matches({"s": value})
        assert str(Filter(text, SCHEMA)) == text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a", "a"), ("a_1", "a_1"), ("a.b", "a.b"), ("and", "`and`"), ("n.Order", "n.`Order`"),
        ("x y", "`x y`"), ("1a", "`1a`"), ("ž", "`ž`"), ("a`b", "`a``b`"),
    ],
)  # fmt: skip
def test_names_have_backticks_where_they_need_them(given: str, expected: str) -> None:
    assert name(given) == expected


def test_any_key_word_may_be_a_name() -> None:
    """Printed, it reads back as the same attribute, wherever it stands."""
    known = {word.lower() for word in Spark.Tokenizer.KEYWORDS if word.isidentifier()}
    for word in sorted(known | {"if", "lower", "contains", "geo_distance", "nan", "r", "x"}):
        schema = Schema.from_dict({word: "string", f"{word}.{word}": "bool", "zz": "string"})
        for text in (
            f"`{word}` = 'a' AND `{word}`.`{word}`",
            f"lower(`{word}`) = 'a'",
            f"NOT (zz > `{word}`)",
        ):
            filter = Filter(text, schema)
            assert Filter(str(filter), schema) == filter, text


@pytest.mark.parametrize("word", ["show", "call", "if", "use", "update", "delete", "desc"])
def test_the_words_of_statements_are_names_without_backticks(word: str) -> None:
    schema = Schema.from_dict({word: "int", "zz": "int"})
    for text in (f"{word} = 5", f"zz = 1 AND {word} < 5", f"{word} IS NULL"):
        assert str(Filter(text, schema)) == text

import contextlib
import sys

import pytest

from wherecast.language.text.operands import WORDS
from wherecast.language.text.parser import parse, parse_counted
from wherecast.language.text.steps import Step
from wherecast.model import FilterError, Limits

LIMITS = Limits()
OTHER_WORDS = (
    "CAST", "INTERVAL", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "ARRAY", "MAP", "STRUCT", "EXISTS",
    "EXTRACT", "FROM", "OVER", "ANY", "ALL", "SOME", "DISTINCT", "UNKNOWN", "SYMMETRIC", "X", "R",
    "UNION", "ORDER", "GROUP", "LIMIT", "HAVING", "WITH", "VALUES", "ISNULL", "NOTNULL", "->", "::",
)  # fmt: skip


def refusal(text: str, limits: Limits = LIMITS) -> FilterError:
    with pytest.raises(FilterError) as caught:
        parse(text, limits)
    return caught.value


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("x = '" + "a" * 70_000 + "'", "text exceeds the limit of 65536 bytes"),
        ("x = '" + "é" * 33_000 + "'", "text exceeds the limit of 65536 bytes"),
        ("x = '" + "a" * 4097 + "'", "a literal exceeds the limit of 4096 bytes"),
        ("x = '" + "é" * 2049 + "'", "a literal exceeds the limit of 4096 bytes"),
        ("x = " + "9" * 4097, "a literal exceeds the limit of 4096 bytes"),
        ("(" * 101 + "x > 1" + ")" * 101, "nesting exceeds the limit of 100 levels"),
        ("(" * 1000, "nesting exceeds the limit of 100 levels"),
        ("NOT " * 101 + "b", "nesting exceeds the limit of 100 levels"),
        ("x > 1 AND " * 256 + "x > 1", "the filter exceeds the limit of 256 predicates"),
        ("x > 1 OR " * 256 + "x > 1", "the filter exceeds the limit of 256 predicates"),
    ],
)
def test_a_costly_text_is_refused(text: str, limit: str) -> None:
    error = refusal(text)
    assert error.message == limit
    assert error.code == "limit"
    assert parse_counted(text, LIMITS)[1] <= 2_000  # of the tokens, which are no more than needed


@pytest.mark.parametrize(
    "text",
    [
        "x = '" + "a" * 4096 + "'",
        "(" * 100 + "x > 1" + ")" * 100,
        "NOT " * 100 + "b",
        "NOT (" * 100 + "b" + ")" * 100,
        "x > 1 AND " * 255 + "x > 1",
        "x BETWEEN 1 AND 2 AND " * 255 + "x > 1",
    ],
)
def test_what_the_limits_allow_is_parsed(text: str) -> None:
    limit = sys.getrecursionlimit()
    parse(text, LIMITS)
    assert sys.getrecursionlimit() == limit


def test_nesting_is_allowed_however_deep_the_caller_is() -> None:
    def call(depth: int) -> None:
        call(depth - 1) if depth else parse("(" * 100 + "x > 1" + ")" * 100, LIMITS)

    call(500)


def test_what_nests_deeper_than_it_looks_is_refused() -> None:
    text = "".join("NOT " * (99 - level) + "(" for level in range(99)) + "b" + ")" * 99
    assert refusal(text).message == "nesting exceeds the limit of 100 levels"


@pytest.mark.parametrize(
    "piece",
    ["NOT ", "(", "- ", "CASE ", "[", "{", "lower(", "x = ", "x.", "INTERVAL ", "EXISTS ", "~ ",
     "! ", "SELECT ", "x IN (", "x BETWEEN ", "CAST(", "x -> ", "?", "@", "x IS ", "/*", "x::",
     "'a' ", "`x` ", "x || ", "ARRAY(", "x[", "WITH ", "FROM ", ";", "\\", "'", '"', "`", "--"],
)  # fmt: skip
def test_any_repetition_ends_in_a_tree_or_a_filter_error(piece: str) -> None:
    for times in (1, 50, 3000):
        with contextlib.suppress(FilterError):
            parse(piece * times + "x", LIMITS)


def test_any_key_word_anywhere_ends_in_a_tree_or_a_filter_error() -> None:
    for word in (*WORDS, *OTHER_WORDS):
        for text in (word, f"{word} x", f"x {word} 1", f"x = {word}", f"{word}(x)", f"{word} 'a'"):
            with contextlib.suppress(FilterError):
                parse(text, LIMITS)


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("", "the filter is empty", 0),
        ("x = 1; x = 2", "a filter is one condition", 5),
        ("x = 1;", "a filter is one condition", 5),
        ("-- x = 1", "the filter is only a comment", 0),
        (" SELECT 1", "a filter cannot hold a subquery", 1),
        ("x = 'a", "a ' is opened and not closed", 4),
        ("(x = 1", "a parenthesis is opened and not closed", 0),
        ("(x = 1) AND (y = ((2)", "a parenthesis is opened and not closed", 17),
        ("x = 1) AND (y = 2", "a parenthesis is closed and not opened", 5),
        ("x ＝ 1", "not a WHERE clause: ＝ is not in the language", 2),
        ("+", "not a WHERE clause: + needs something on its right", 0),
        ("x >\n AND y", "not a WHERE clause: > needs something on its right", 2),
    ],
)
def test_what_is_wrong_is_placed(text: str, message: str, position: int) -> None:
    error = refusal(text)
    assert (error.message, error.position) == (message, position)


def test_neighbouring_strings_are_one_string() -> None:
    def read(text: str) -> str:
        return str(parse(text, LIMITS)[1].argument.text)

    for text in ("x = 'a' 'b'", "x = 'ab'", "x = 'a'\n\"b\""):
        assert read(text) == "ab"
    assert read("x = 'it''s'") == "it's"
    assert read('x = "say ""x"""') == 'say "x"'


def test_operands_stand_before_their_operators() -> None:
    steps: list[Step] = parse("a + 1 > 2 AND NOT b", LIMITS)
    assert [step.code for step in steps] == [
        "name", "literal", "binary", "literal", "compare", "name", "not", "and",
    ]  # fmt: skip

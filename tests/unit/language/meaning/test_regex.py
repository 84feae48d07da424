"""RLIKE: Java's expressions with Java's meaning, or a refusal that names construct and place."""

import pytest

from wherecast.language import Filter
from wherecast.language.meaning import regex
from wherecast.language.meaning.evaluate import evaluate
from wherecast.language.meaning.expression import Pattern
from wherecast.language.meaning.patterns import check_pattern
from wherecast.language.meaning.regex import WORK_MAX, compile_regex, rlike, unknown_verdicts
from wherecast.language.text.write import write
from wherecast.model import Attribute, FilterError, Limits, Schema

S = Attribute("s", "string")
TERMINATORS = ["\n", "\r", "\r\n", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("b", "abc", True), ("^b", "abc", False), ("c$", "abc", True), ("", "", True),
        ("a.c", "abc", True), ("a.c", "a\nc", False), ("a.c", "a\rc", False),
        ("(?s)a.c", "a\nc", True),
        ("a.c", "a\u2028c", False), ("a.c", "a\x85c", False), ("a.c", "a😀c", True),
        (r"\s", "\x0b", True), (r"\S", "\x0b", False), (r"[\S]", "\x0b", False),
        (r"\d", "٣", False),
        (r"\w", "é", False), ("(?i)k", "\u212a", False), ("(?i)s", "ſ", False),
        ("(?i)É", "é", False),
        ("(?i)ab", "AB", True), ("(?i)[a-c]", "B", True), ("(?i)[^a-c]", "B", False),
        ("(?i:a)b", "AB", False), ("(?i)a(?-i)b", "Ab", True), ("(?i)a(?-i)b", "AB", False),
        ("a{2,3}b", "aab", True), ("a{2}?b", "ab", False), (r"\Qa.\E+", "a..", True),
        (r"\Qa.\E", "ab", False), (r"\x41\u0042\0103\x{1F600}", "ABC😀", True),
        (r"\uD83D\uDE00", "😀", True), (r"\p{Alpha}", "é", False), (r"\p{L}", "é", True),
        (r"\P{IsLatin}", "é", False), (r"[\p{Punct}&&&]", "", None), ("[]a]", "]", True),
        ("(?<year>[0-9]{4})", "in 1999", True), ("[a-]", "-", True), (r"[\w-z]", "-", True),
        ("a|b$", "b\n", True), ("(a|b$)", "b\n", True), (r"b\z", "b\n", False),
        (r"b\Z", "b\n", True),
        ("a||b", "", True), ("()", "", True), ("}]", "}]", True), (r"\bab\b", "x ab y", True),
    ],
)  # fmt: skip
def test_the_meaning_is_that_of_java(pattern: str, value: str, expected: bool | None) -> None:
    if expected is None:
        with pytest.raises(FilterError):
            compile_regex(pattern)
    else:
        assert rlike(value, pattern) == expected


def test_the_end_may_stand_before_one_last_line_terminator() -> None:
    for end in TERMINATORS:
        assert rlike(f"ab{end}", "b$")
        assert not rlike(f"ab{end}{end}", "b$")
        assert not rlike(f"ab{end}c", "b$")


@pytest.mark.parametrize(
    ("pattern", "construct", "place"),
    [
        ("a(?=b)", "look-ahead `(?=`", 1), ("(?!b)", "negative look-ahead", 0),
        ("ab(?<=b)", "look-behind `(?<=`", 2), ("(?<!b)", "negative look-behind", 0),
        (r"(a)\1", r"back-reference `\1`", 3), (r"(?<n>a)\k<n>", r"back-reference `\k`", 7),
        ("a++", "possessive quantifier `++`", 1), ("a{2}+", "possessive quantifier `{2}+`", 1),
        (r"\R", r"the line break `\R`", 0), (r"a\h", r"the horizontal space `\h`", 1),
        (r"[a\h]", r"the horizontal space `\h`", 2), (r"\v", r"the vertical space `\v`", 0),
        (r"\p{javaLowerCase}", r"property `\p{javaLowerCase}`", 0), (r"\p{InGreek}", "property", 0),
        (r"\p{C}", "property", 0), ("(?>a)", "atomic group", 0), ("(?m)a", "flag `m`", 0),
        ("(?x) a", "flag `x`", 0), ("a(?iu)", "flag `u`", 1), ("(?P<n>a)", "group `(?P<`", 0),
        ("[a[b]]", "a class inside a class", 2), ("[[:alpha:]]", "a class inside a class", 1),
        ("[a-c&&b]", "an intersection of classes", 4), (r"a$\n", "`$` before the end", 1),
        ("(a$|b)c", "`$` before the end", 2), ("(a$)*", "a repeated `$`", 2),
        ("a{2000}", "more than 1,000 repetitions `{2000}`", 1),
        ("a{,2}", "`{` without a number", 1),
        ("a{3,2}", "inverted repetition", 1), ("*a", "quantifier `*` without an operand", 0),
        ("(a", "an unclosed group", 0), ("a)", "`)` without a group", 1),
        ("[a", "an unclosed class", 0),
        ("a\\", "a backslash at the end", 1), (r"\y", r"escape `\y`", 0),
        ("[b-a]", "an inverted", 1),
        (r"\uD800", "no character", 0), (r"\x{110000}", "no character", 0),
        (r"\G", "previous match", 0),
        (r"\b{g}", "grapheme", 0), ("(?<n>a)(?<n>b)", "a second group `n`", 7),
        (r"\p", "property", 0),
        (r"(?i)\p{Lu}", "without case", 4), (r"[a-\d]", "a range that ends with a class", 1),
    ],
)  # fmt: skip
def test_what_is_refused_is_named_with_its_place(pattern: str, construct: str, place: int) -> None:
    with pytest.raises(FilterError) as caught:
        compile_regex(pattern, 7)
    assert construct in caught.value.message
    assert f"at character {place + 1} of the pattern" in caught.value.message
    assert caught.value.position == 7


@pytest.mark.parametrize("pattern", [r"\p{IsNothing}", "((a{100}){100}){100}"])
def test_what_re2_refuses_is_a_filter_error(pattern: str) -> None:
    with pytest.raises(FilterError, match="RLIKE does not take invalid"):
        compile_regex(pattern)


def test_programs_are_limited() -> None:
    check_pattern(Pattern(S, "rlike", "a[ab]{200}c"), Limits())
    with pytest.raises(FilterError, match="instructions and exceeds the limit of 500") as caught:
        check_pattern(Pattern(S, "rlike", "(?:[ab]{0,30}a){20}c"), Limits(), 3)
    assert (caught.value.code, caught.value.position) == ("limit", 3)
    with pytest.raises(FilterError, match="look-ahead"):
        check_pattern(Pattern(S, "rlike", "(?=a)"), Limits())


def test_what_would_cost_too_much_is_unknown_and_counted() -> None:
    pattern = "b[ab]{20}c"
    most = WORK_MAX // compile_regex(pattern).program
    before = unknown_verdicts()
    assert rlike("a" * most, pattern) is False
    assert unknown_verdicts() == before
    assert rlike("a" * (most + 1), pattern) is None
    assert rlike("é" * (most // 2 + 1), pattern) is None
    for negated in (False, True):
        leaf = Pattern(S, "rlike", pattern, negated=negated)
        assert evaluate(leaf, {"s": "a" * (most + 1)}) is None
    assert unknown_verdicts() == before + 4


def test_predicates() -> None:
    leaf = Filter(r"lower(s) RLIKE '^a\'\\d'", Schema.from_dict({"s": "string"})).expression
    assert evaluate(leaf, {"s": "A'1"}) is True
    assert evaluate(leaf, {"s": None}) is None  # type: ignore[dict-item]
    assert evaluate(Pattern(S, "rlike", "b", negated=True), {"s": "abc"}) is False
    assert write(leaf) == r"lower(s) RLIKE '^a\'\\d'"
    assert write(Pattern(S, "rlike", "b", "!", negated=True)) == "s NOT RLIKE 'b'"


def test_a_lone_surrogate_is_a_character() -> None:
    assert rlike("\ud800", "^.$") is True
    with pytest.raises(FilterError):
        compile_regex("(\ud800")


def test_expressions_take_bounded_memory() -> None:
    for number in range(4_000):
        compile_regex(f"{number}[ab]{{100}}" + "x" * 200)
    assert regex._regexes.nbytes <= 32 * 1024 * 1024

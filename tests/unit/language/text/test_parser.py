import pytest

from wherecast.language.text.parser import parse, parse_counted
from wherecast.language.text.steps import Step
from wherecast.model import FilterError, Limits

LIMITS = Limits()


def shown(steps: list[Step]) -> str:
    """Steps in one line: operands as they are, operators with their arguments."""
    words = []
    for code, argument, _ in steps:
        if code == "literal":
            text = f"'{argument.text}'" if argument.kind == "string" else argument.text
            words.append(text + argument.suffix)
        elif code in ("name", "compare", "binary"):
            words.append(argument)
        elif isinstance(argument, tuple) and code != "interval":
            words.append(f"{code}({','.join(str(part) for part in argument)})")
        else:
            words.append(code if argument in (None, False) else f"{code}({argument})")
    return " ".join(words)


def read(text: str) -> str:
    return shown(parse(text, LIMITS))


def refusal(text: str, limits: Limits = LIMITS) -> FilterError:
    with pytest.raises(FilterError) as caught:
        parse(text, limits)
    return caught.value


# each row was compared with the parser of Spark 4.3
@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a = b AND c = d OR e", "a b = c d = and e or"),
        ("a OR b AND NOT c", "a b c not and or"),
        ("NOT a = b", "a b = not"),
        ("! a = b", "a b = not"),
        ("NOT NOT a", "a not not"),
        ("NOT x BETWEEN 1 AND 2 AND y", "x 1 2 between not y and"),
        ("x NOT BETWEEN 1 AND 2 OR y", "x 1 2 between(True) y or"),
        ("x BETWEEN 1 AND 2 = y", "x 1 2 y = between"),
        ("x BETWEEN (a BETWEEN 1 AND 2) AND 3", "x a 1 2 between 3 between"),
        ("a = b IS NULL", "a b = is(null,False)"),
        ("a < b IN (1)", "a b < 1 in(False,1)"),
        ("x LIKE 'a' = y", "x 'a' y = pattern(like,False,False)"),
        ("x NOT ILIKE 'a!_' ESCAPE '!'", "x 'a!_' '!' pattern(ilike,True,True)"),
        ("x REGEXP 'a'", "x 'a' pattern(rlike,False,False)"),
        ("a IS NOT TRUE", "a is(true,True)"),
        ("a IS UNKNOWN", "a is(unknown,False)"),
        ("a IS NOT DISTINCT FROM b AND c", "a b distinct(True) c and"),
        ("a == b", "a b ="),
        ("a !> 5", "a 5 <="),
        ("a <=> b", "a b <=>"),
        ("a + b * c - d", "a b c * + d -"),
        ("a % b DIV c", "a b % c div"),
        ("- a * b", "a negate b *"),
        ("a - -5", "a 5 negate -"),
        ("-5::string", "5 negate cast(string,False)"),
        ("-x::string", "x cast(string,False) negate"),
        ("-a[0]", "a 0 index negate"),
        ("x::int[0]", "x cast(int,False) 0 index"),
        ("a::decimal( 10 , 2 )", "a cast(decimal(10,2),False)"),
        ("a::string < 'b'", "a cast(string,False) 'b' <"),
        ("TRY_CAST(a + 1 AS int)", "a 1 + cast(int,True)"),
        ("CASE a WHEN 1 THEN 2 ELSE 3 END", "a 1 2 3 case(1,True,True)"),
        ("CASE WHEN a THEN 1 WHEN b THEN 2 END", "a 1 b 2 case(2,False,False)"),
        ("f(a, g()) > 1", "a call(g,0) call(f,2) 1 >"),
        ("x IN ((1), NOT a)", "x 1 a not in(False,2)"),
        ("if(a, b, c) = if", "a b c call(if,3) if ="),
        ("show = 1 AND end > 5", "show 1 = end 5 > and"),
        ("2nd = 1 AND a.2nd = 1", "2nd 1 = a.2nd 1 = and"),
        ("a . `b c`.d = `x``y`", "a.b c.d x`y ="),
        ("x = 'a' \"b\" r'c\\'", "x 'abc\\' ="),
        ("x = 5L OR x = 1.5bd OR x = 1e5", "x 5L = x 1.5BD = or x 1e5 = or"),
        ("a /* b /* c */ d */ = 1 -- AND", "a 1 ="),
        # Spark reads a name that becomes a call where no column has it
        ("seen > current_timestamp", "seen call(current_timestamp,0) >"),
        ("interval - 5 > 3", "interval 5 - 3 >"),
    ],
)
def test_texts_are_read_as_spark_reads_them(text: str, steps: str) -> None:
    assert read(text) == steps


def test_steps_have_places() -> None:
    text = "NOT f(a) NOT IN (1, DATE '2026-05-01') AND b > -5"
    places = [(step.code, text[step.position :][:4]) for step in parse(text, LIMITS)]
    assert places == [
        ("name", "a) N"), ("call", "f(a)"), ("literal", "1, D"), ("literal", "DATE"),
        ("in", "NOT "), ("not", "NOT "), ("name", "b > "), ("literal", "5"), ("negate", "-5"),
        ("compare", "> -5"), ("and", "AND "),
    ]  # fmt: skip
    day = parse(text, LIMITS)[3].argument
    assert (day.kind, day.text, day.position) == ("date", "2026-05-01", text.index("'"))


@pytest.mark.parametrize(
    ("text", "message", "position", "hint"),
    [
        ("", "the filter is empty", 0, "TRUE"),
        ("-- x", "the filter is only a comment", 0, None),
        ("no2 >", "> needs something on its right", 4, None),
        ("> 40", "> needs something on its left", 0, None),
        ("no2 40", "an operator is missing before 40", 4, None),
        ("no2 > 40 AND", "AND needs something on its right", 9, "leave the last AND out"),
        ("city = 'O'slo'", "a ' is opened and not closed", 13, "write '' for a '"),
        ("city LIKE Os%", "% needs something on its right", 12, "in quotes, as in LIKE 'a%'"),
        ("no2 ! = 4", "an operator is missing before !", 4, "write != or <>"),
        ("a AND > 5", "> needs something on its left", 6, None),
        ("x >\n AND y", "> needs something on its right", 2, None),
        ("like = 5", "like needs something on its left", 0, "`like`"),
        ("a = = 5", "= needs something on its right", 2, "= once"),
        ("a NOT = 5", "NOT stands before IN", 2, "<>"),
        ("a NOT NULL", "NOT stands before IN", 2, "IS NOT NULL"),
        ("a IS 5", "IS takes NULL", 5, "= 5"),
        ("a IN (1 2)", "a comma is missing before 2", 8, None),
        ("a IN ()", "IN needs a list of constants", 5, None),
        ("a IN 5", "IN needs a list in parentheses", 5, None),
        ("f(a,)", ", needs something on its right", 3, "comma"),
        ("no2 > 4,5", "a comma has no place here", 7, "4.5"),
        ("no2 > 1.000,5", "a comma has no place here", 11, "write 1000.5"),
        ("no2 BETWEEN 1,5 AND 2,5", "a comma has no place here", 13, "write 1.5"),
        ("where no2 > 4", "a filter is what stands behind WHERE", 0, "leave the word WHERE out"),
        ("a > 1 && b > 2", "&& is not in the language", 6, "AND"),
        ("a > 1 || b > 2", "|| is not in the language", 6, "OR"),
        ("a => 1", "=> is not in the language", 2, ">="),
        ("a =< 1", "=< is not in the language", 2, "<="),
        ("a ≥ 1", "≥ is not in the language", 2, ">="),
        ("a ≤ 1", "≤ is not in the language", 2, "<="),
        ("c = “d”", "“ is not in the language", 4, "write '"),
        ("a > 1 or", "or needs something on its right", 6, "leave the last or out"),
        ("1 < x < 5", "two sides, not three", 6, "AND"),
        ("a IS NULL = TRUE", "= cannot follow this test", 10, "parentheses"),
        ("a = NOT b", "NOT has no place here", 4, "parentheses"),
        ("a BETWEEN 1", "BETWEEN needs AND", 2, None),
        ("WHERE a > 1", "what stands behind WHERE", 0, "leave"),
        ("a > 1 ORDER BY a", "missing before ORDER", 6, "only the condition"),
        ("a IN (SELECT 1)", "a filter cannot hold a subquery", 6, None),
        ("FROM x", "a filter cannot hold a subquery", 0, None),
        ("a = 1; b", "a filter is one condition", 5, None),
        ("a && b", "&& is not in the language", 2, "AND"),
        ("a = 1 || b = 2", "|| is not in the language", 6, "OR"),
        ("a => 5", "=> is not in the language", 2, ">="),
        ("a =< 5", "=< is not in the language", 2, "<="),
        ("a ≥ 5", "≥ is not in the language", 2, ">="),
        ("a ＞ 5", "＞ is not in the language", 2, "write > instead of the full-width ＞"),
        ("a = ‘x’", "‘ is not in the language", 4, "'"),
        ("a & b", "operators on bits are not in the language", 2, None),
        ("x -> x", "functions with -> are not in the language", 2, None),
        ("count(*)", "the star * is not in the language", 6, None),
        ("sum(a) OVER (b)", "window functions (OVER) are not in the language", 7, None),
        ("a LIKE ANY ('b')", "LIKE ANY is not in the language", 7, "OR"),
        ("(a", "a parenthesis is opened and not closed", 0, None),
        ("(a) AND (b = ((2)", "a parenthesis is opened and not closed", 13, None),
        ("a) AND (b", "a parenthesis is closed and not opened", 1, None),
        ("a[1", "a bracket is opened and not closed", 1, None),
        ("a = 'x AND b = 'y'", "a ' is opened and not closed", 17, None),
        ("a /* b", "a /* is opened and not closed", 2, None),
        ("CASE a END", "CASE needs WHEN", 0, "CASE WHEN"),
        ("CASE WHEN a END", "CASE needs THEN", 0, "CASE WHEN"),
        ("(CASE WHEN a THEN b)", "CASE needs END", 1, "CASE WHEN"),
        ("CAST(a)", "CAST needs AS and a type", 0, "double"),
        ("a::", ":: needs a type", 3, "double"),
        ("a::array<int> = b", "the type array is not in the language", 3, "plain types"),
        ("a > 1_000", "1_000 is not a number", 4, "1000"),
        ("a > 1.5L", "1.5L is not a number", 4, "whole"),
        ("a > X'41'", "bytes such as X'41' are not in the language", 4, None),
        ("f(x).y", "a dot joins the parts of a name", 4, None),
        ("a\ufeff", "the character U+FEFF is not in the language", 1, None),
    ],
)
def test_errors_name_the_place_and_what_to_write(
    text: str, message: str, position: int, hint: str | None
) -> None:
    error = refusal(text)
    assert message in error.message
    assert error.position == position
    assert (hint or "") in (error.hint or "")
    assert error.text == text


def test_a_leading_where_is_told_beside_bad_characters() -> None:
    error = refusal("WHERE a => 4 && b = 5")
    told = [(one.position, one.hint) for one in (error, *error.others)]
    assert told == [(0, "leave the word WHERE out"), (8, "write >="), (13, "write AND")]


def test_bad_characters_are_told_together() -> None:
    error = refusal("a ＞ 4 && b ? 5 AND c = 'd")
    assert [other.position for other in (error, *error.others)] == [2, 6, 11, 23]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = '" + "a" * 70_000 + "'", "text exceeds the limit of 65536 bytes"),
        ("x = '" + "é" * 33_000 + "'", "text exceeds the limit of 65536 bytes"),
        ("x = '" + "é" * 2049 + "'", "a literal exceeds the limit of 4096 bytes"),
        ("x = " + "'aaaaaaaa' " * 600, "a literal exceeds the limit of 4096 bytes"),
        ("x = " + "9" * 4097, "a literal exceeds the limit of 4096 bytes"),
        ("a" + " . a" * 5_000, "a name exceeds the limit of 4096 characters"),
        ("(" * 101 + "x > 1" + ")" * 101, "nesting exceeds the limit of 100 levels"),
        ("NOT " * 101 + "b", "nesting exceeds the limit of 100 levels"),
        ("x" + "::int" * 101, "nesting exceeds the limit of 100 levels"),
        ("x" + "[1]" * 101, "nesting exceeds the limit of 100 levels"),
        ("CASE WHEN " * 101, "nesting exceeds the limit of 100 levels"),
        ("NOT NOT b = (" * 90, "nesting exceeds the limit of 100 levels"),
        ("x > 1 AND " * 256 + "x > 1", "the filter exceeds the limit of 256 predicates"),
        ("x > 1" + " + 1" * 2001, "the filter exceeds the limit of 2000 operations"),
        ("x IN (1" + ", 2" * 10_000 + ")", "IN exceeds the limit of 10000 values"),
        ("f(1" + ", 2" * 10_000 + ")", "the call of f exceeds the limit of 10000 arguments"),
    ],
)
def test_what_is_over_a_limit_is_refused(text: str, message: str) -> None:
    error = refusal(text)
    assert (error.message, error.code) == (message, "limit")


@pytest.mark.parametrize(
    "text",
    [
        "x = '" + "a" * 4096 + "'",
        "(" * 100 + "x > 1" + ")" * 100,
        "NOT " * 100 + "b",
        "NOT (" * 100 + "b" + ")" * 100,
        "x" + "::int" * 100,
        "x > 1 AND " * 255 + "x > 1",
        "x BETWEEN 1 AND 2 AND " * 255 + "x > 1",
        "x > 1" + " + 1" * 2000,
        "x IN (1" + ", 2" * 9_999 + ")",
    ],
)
def test_what_the_limits_allow_is_read(text: str) -> None:
    assert parse(text, LIMITS)


def test_a_limit_ends_the_reading() -> None:
    tail = " OR a = 1" * 6_000
    early = parse_counted("a = 1" + " OR a = 1" * 256, LIMITS)[1]
    assert parse_counted("a = 1" + tail, LIMITS)[1] == early

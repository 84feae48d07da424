"""The parser reads what sqlglot reads, refuses the rest with a FilterError, and works linearly."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.cases import FILES
from tests.property.sqlglot_steps import plain, sqlglot_steps
from tests.property.strategies import fill, make_schema, make_template
from tests.property.test_nonsense import SCRAPS, broken
from tests.seeds import jobs, random_of
from wherecast.language.text.parser import parse, parse_counted
from wherecast.language.text.steps import Step, operands_of
from wherecast.model import FilterError, Limits

LIMITS = Limits()
WORK_MAX = 50  # per character
NAMES = ["a", "b", "no2", "n.x.y", "`x y`", "`a``b`", "show", "date", "_z9", "`order`"]
NUMBERS = ["0", "7", "2.5", ".5", "1e3", "2.5E-3", "9L", "4D", "12345678901234567890"]
STRINGS = ["''", "'a'", "'it\\'s'", "'%a_'", "'é😀'", "'a\\nb'", '"say"']
COMPARED = ["=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"]
SIGNS = "+-*/%=<>!(),.'\"[]{}`\\ax15 \n\t:|&#?@ANDORNOTe_"
BOMB_PIECES = [
    "(", "NOT ", "a=1 OR ", "a IN (", "f(", "CAST(x AS ", "CASE WHEN ", "x[", "-", "::int", "1,",
    "1 DAY ", "'a' ", "/**/", "/*", "--\n", "\\", "a.", "x -> ", "BETWEEN 1 AND ", "IS NOT ",
]  # fmt: skip
PARTS = 16  # of the campaign, which processes share
BOMBS = [
    "DATE(" * 200 + "x" + ")" * 200,
    "x" + "::int" * 500,
    "x" + "::int" * 12_000,
    "'" * 40_000,
    "'" * 39_999,
    "`" * 40_001,
    "/*" * 20_000,
    "x = 1 /*" + "a" * 60_000,
    "/* a */" * 9_000 + "x",
    "a=1 OR " * 9_000 + "a=1",
    "a IN (" + "1," * 30_000 + "1)",
    "f(" + "1," * 30_000 + "1)",
    "(" * 1_000 + "a" + ")" * 1_000,
    "x" + "[1]" * 20_000,
    "a" + " . a" * 15_000,
    "x = " + "'a' " * 15_000,
    "x > " + "-" * 30_000 + "1",
    "x > " + "- " * 30_000 + "1",
    "NOT " * 15_000 + "x",
    "CASE WHEN " * 6_000,
    "x = " + "1+" * 30_000 + "1",
    "INTERVAL " * 7_000,
    "x > INTERVAL " + "1 DAY " * 9_000,
    "a BETWEEN " * 6_000,
    "?" * 60_000,
    "9" * 60_000,
    "a" * 60_000,
    "r'" * 30_000,
    "--\n" * 20_000 + "x",
    "CAST(" * 12_000,
    "\\" * 60_000,
]


def number(rng: Random, depth: int) -> str:
    """A random expression without conditions."""
    kind = rng.random() if depth else 0
    if kind < 0.4:
        return rng.choice(NAMES if rng.random() < 0.6 else NUMBERS)
    if kind < 0.7:
        sign = rng.choice(["+", "-", "*", "/", "%", " DIV "])
        return f"{number(rng, depth - 1)} {sign} {number(rng, depth - 1)}"
    if kind < 0.78:
        return f"({number(rng, depth - 1)})"
    if kind < 0.84:
        return f"-{rng.choice([*NAMES, '5', '2.5', '(a + 1)'])}"
    if kind < 0.88:
        return f"{rng.choice(NAMES)}::{rng.choice(['double', 'decimal(10, 2)', 'string'])}"
    if kind < 0.92:
        word = rng.choice(["CAST", "TRY_CAST"])
        return f"{word}({number(rng, 0)} + a AS {rng.choice(['bigint', 'double'])})"
    if kind < 0.97:
        return f"{rng.choice(['foo', 'Bar', 'lower', 'abs'])}({number(rng, depth - 1)})"
    start = rng.choice(["CASE", "CASE a"])
    other = rng.choice(["", f" ELSE {number(rng, depth - 1)}"])
    return f"{start} WHEN {number(rng, 0)} THEN {number(rng, depth - 1)}{other} END"


def predicate(rng: Random, depth: int) -> str:
    """A random predicate."""
    left, negated, kind = number(rng, depth), rng.choice(["", "NOT "]), rng.random()
    if kind < 0.45:
        return f"{left} {rng.choice(COMPARED)} {rng.choice([number(rng, depth), *STRINGS])}"
    if kind < 0.58:
        return f"{left} {negated}BETWEEN {number(rng, depth)} AND {number(rng, depth)}"
    if kind < 0.7:
        items = [rng.choice([number(rng, 1), *STRINGS]) for _ in range(rng.randint(1, 4))]
        return f"{left} {negated}IN ({', '.join(items)})"
    if kind < 0.8:
        word = rng.choice(["LIKE", "ILIKE", "RLIKE", "REGEXP"])
        escape = rng.choice(["", " ESCAPE '!'"]) if word in ("LIKE", "ILIKE") else ""
        return f"{left} {negated}{word} {rng.choice(STRINGS)}{escape}"
    if kind < 0.9:
        return f"{left} IS {negated}{rng.choice(['NULL', 'TRUE', 'FALSE'])}"
    if kind < 0.95:
        return f"{left} IS {negated}DISTINCT FROM {number(rng, depth)}"
    return rng.choice(["TRUE", "FALSE", "a", "b", "t > DATE '2026-05-01'",
                       "t < TIMESTAMP '2026-05-01 10:00:00'", "NOT (a)"])  # fmt: skip


def condition(rng: Random, depth: int) -> str:
    """A random condition with few parentheses, so that powers matter."""
    kind = rng.random()
    if not depth or kind < 0.2:
        return predicate(rng, 2)
    if kind < 0.32:
        return f"NOT {condition(rng, depth - 1)}"
    if kind < 0.45:
        return f"({condition(rng, depth - 1)})"
    gap = rng.choice([" ", "\n", " /* AND */ ", " -- OR\n"])
    word = rng.choice(["AND", "OR", "and", "Or"])
    return f"{condition(rng, depth - 1)}{gap}{word} {condition(rng, depth - 1)}"


def assert_well_formed(steps: list[Step], text: str) -> None:
    """Every step finds its operands, and one value is left."""
    depth = 0
    for step in steps:
        count = operands_of(step)
        assert depth >= count, text
        depth += 1 - count
        assert 0 <= step.position <= len(text), text
    assert depth == 1, text


def assert_bounded(text: str) -> bool:
    """Whether a text is accepted; nothing but a FilterError with a place, and linear work."""
    found, work = parse_counted(text, LIMITS)
    assert work <= WORK_MAX * max(1, len(text)), text[:200]
    if not isinstance(found, FilterError):
        assert_well_formed(found, text)
        return True
    for error in (found, *found.others):
        assert len(error.message) < 300, text[:200]
        assert error.position is None or 0 <= error.position <= len(text), text[:200]
        assert error.text == text
    assert len(str(found).splitlines()) <= 3 * (1 + len(found.others))
    return False


@pytest.mark.parametrize("job", jobs(10, in_make_test=1, in_release=3))
def test_sqlglot_reads_the_same(job: int) -> None:
    """A release reads 30,000 texts."""
    rng = random_of(f"parser {job}")
    for _ in range(3_000):
        text = condition(rng, 3)
        steps = parse(text, LIMITS)
        assert plain(steps) == sqlglot_steps(text), text
        assert_well_formed(steps, text)


READ_OTHERWISE = ("''", '""', "' '", "r'", "R'", "if", "INTERVAL")  # by sqlglot


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_sqlglot_reads_the_filters_of_the_cases_the_same(file: object) -> None:
    for case in file.cases:  # type: ignore[attr-defined]
        for text in case.filters.values():
            if isinstance(text, str) and not text.lstrip().startswith("["):
                steps = parse(text, LIMITS)
                assert_well_formed(steps, text)
                if not any(odd in text for odd in READ_OTHERWISE):
                    assert plain(steps) == sqlglot_steps(text), text


@pytest.mark.parametrize("text", BOMBS, ids=lambda text: f"{text[:12]!r}-{len(text)}")
def test_bombs_are_read_linearly(text: str) -> None:
    assert_bounded(text)


def mutated(rng: Random) -> str:
    """A text near a filter."""
    kind = rng.random()
    if kind < 0.4:
        return broken(rng, condition(rng, 2))
    if kind < 0.6:
        schema = make_schema(rng)
        return broken(rng, fill(rng, make_template(rng, schema)))
    if kind < 0.8:
        return " ".join(rng.choice([*SCRAPS, *NAMES, *NUMBERS]) for _ in range(rng.randint(1, 12)))
    text = condition(rng, 2)
    place = rng.randrange(len(text))
    piece = rng.choice(["", "(", ")", "'", ",", "=", "\\", "`", "?", "/*", "5", " "])
    return text[:place] + piece + text[place + rng.randint(0, 3) :]


def test_mutated_texts_raise_nothing_else() -> None:
    rng = random_of("mutated filters")
    accepted = sum(assert_bounded(mutated(rng)) for _ in range(20_000))
    assert accepted > 500  # both outcomes are met


def bomb(rng: Random) -> str:
    """Pieces again and again, closed or not; some texts are as long as a filter may be."""
    pieces = [*SCRAPS, *NAMES, *BOMB_PIECES]
    start, close = rng.choice(pieces), rng.choice(["", "", ")", "END ", "]", "*/", "'", "x "])
    piece = rng.choice([start, f"{start} ", f"{start} {rng.choice(pieces)} "])
    size = rng.choice([*[40, 300] * 50, 60_000])
    times = max(1, size // len((piece + close).encode("utf-8", "replace")))
    return rng.choice(["", "x = ", "a=1 AND "]) + piece * times + "x" + close * times


def noise(rng: Random) -> str:
    """Any characters: signs of the language, or all that there are."""
    if rng.random() < 0.5:
        return "".join(rng.choices(SIGNS, k=rng.randrange(60)))
    return "".join(chr(rng.randrange(rng.choice([127, 0x2FFF, 0x10FFFF]))) for _ in range(20))


@pytest.mark.soak("parser")
@pytest.mark.parametrize("part", range(PARTS))
def test_a_million_texts_raise_nothing_else(part: int) -> None:
    rng = random_of(f"a million mutated filters {part}")
    makes = {mutated: 0.8, bomb: 0.1, noise: 0.1}
    texts, accepted = Counter[str](), Counter[str]()
    for make in rng.choices(list(makes), list(makes.values()), k=1_000_000 // PARTS):
        texts[make.__name__] += 1
        accepted[make.__name__] += assert_bounded(make(rng))
    found = ", ".join(f"{accepted[name]:,} of {count:,} {name}" for name, count in texts.items())
    print(f"part {part}: filters are {found}; at most {WORK_MAX} steps per character")


@settings(max_examples=300)
@given(st.text(max_size=60) | st.text("+-*/%=<>!(),.'\"[]`\\ax15 \n:|&", max_size=30))
def test_any_text_at_all(text: str) -> None:
    assert_bounded(text)
    assert_bounded(f"a = {text}")

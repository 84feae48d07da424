"""LIKE forms: the search agrees with regular expressions, and its steps are linear in the text."""

import re
from random import Random

import pytest

from tests.seeds import run_seed
from wherecast.language.meaning.like import (
    ANY,
    ONE,
    Effort,
    find_by_bits,
    find_part,
    like_form,
    unescaped_form,
)


def expression_of(symbols: list[str]) -> str:
    """The same pattern as a regular expression."""
    signs = {ANY: ".*", ONE: "."}
    return "".join(signs.get(symbol) or re.escape(symbol) for symbol in symbols)


def test_forms_hold_where_regular_expressions_match() -> None:
    rng = Random(run_seed())
    for _ in range(20_000):
        letters = rng.choice(["ab", "aé", "a\n", "a😀b", "%_\\"])
        symbols = rng.choices([*letters, ANY, ONE], k=rng.randint(0, 9))
        value = "".join(rng.choices(letters, k=rng.randint(0, 30)))
        wanted = re.fullmatch(expression_of(symbols), value, re.DOTALL) is not None
        form = like_form(symbols)
        assert form.holds(value) == wanted, (symbols, value)
        if letters != "%_\\":
            assert unescaped_form("".join(symbol[-1] for symbol in symbols)) == form


def test_parts_are_found_where_regular_expressions_find_them() -> None:
    rng = Random(run_seed())
    for _ in range(20_000):
        symbols = rng.choices(["a", "b", "a", ONE], k=rng.randint(1, 7))
        value = "".join(rng.choices("ab", k=rng.randint(0, 30)))
        start = rng.randint(0, 5)
        found = re.compile(expression_of(symbols), re.DOTALL).search(value, start)
        wanted = -1 if found is None or start > len(value) else found.start()
        part = like_form(symbols).parts[0]
        assert find_part(value, part, start) == wanted, (symbols, value, start)
        if part.runs:
            assert find_by_bits(value, part, start) == wanted, (symbols, value, start)


@pytest.mark.parametrize("place", [0, 4_095, 4_096, 4_097, 12_287, 12_288, 70_000, 600_000, None])
def test_bits_find_a_part_in_any_window(place: int | None) -> None:
    part = like_form([*"a" * 50, ONE, *"ab" * 20, ONE, "c"]).parts[0]
    value = "a" * 600_000
    if place is not None:
        value = value[:place] + "a" * 51 + "ab" * 20 + "xc" + value[place + 93 :]
    assert find_by_bits(value, part, 0) == (-1 if place is None else place)
    assert find_part(value, part, 0) == (-1 if place is None else place)


def test_a_lone_surrogate_is_a_letter() -> None:
    part = like_form(["\ud800", ONE, "a"]).parts[0]
    assert find_by_bits("aa\ud800aa", part, 0) == 2


A = "a"
MIXED = "".join(Random(5).choices("ab", k=4_000))
HOSTILE = {
    "one run": [ANY, ONE, *A * 4_000, "b", ANY],
    "31 equal runs": [ANY, *[*A * 100, ONE] * 31, "b", ANY],
    "two runs": [ANY, *A * 2_000, ONE, *A * 2_000, "b", ANY],
    "short runs": [ANY, *["a", ONE, "b", ONE] * 16, "c", ANY],
    "many parts": [ANY, *["a", ONE, "a", ANY] * 15, "b", ONE, "b", ANY],
    "parts that the budget ends": [ANY, *["a", ONE, "b", ANY] * 15, "c", ONE, "c", ANY],
    "periods": [ANY, *[*"ab" * 60, ONE, "c"] * 30, ANY],
    "random letters": [ANY, *(c if i % 125 else ONE for i, c in enumerate(MIXED)), ANY],
}
TEXTS = {
    "a": lambda size: A * size,
    "ab": lambda size: "ab" * (size // 2),
    "random": lambda size: "".join(Random(7).choices("ab", k=size)),
    "sparse": lambda size: ("a" * 3_000 + "xb") * (size // 3_002),
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", HOSTILE)
def test_the_steps_are_linear_in_the_text(name: str, text: str) -> None:
    form = like_form(HOSTILE[name])
    steps = []
    for size in (300_000, 600_000, 1_200_000):
        effort = Effort()
        form.holds(TEXTS[text](size), effort)
        steps.append(effort.steps)
    letters = len(HOSTILE[name])
    assert steps[2] <= 1_200_000 * (2 + 2 * letters / 30) + 100_000
    assert steps[2] - steps[1] <= 2.5 * (steps[1] - steps[0]) + 200_000


def test_one_run_costs_a_scan() -> None:
    effort = Effort()
    assert not like_form(HOSTILE["one run"]).holds(A * 1_000_000, effort)
    assert effort.steps <= 1_010_000

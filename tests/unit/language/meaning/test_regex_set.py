"""A set of expressions says of a string what they say one by one."""

from random import Random

import pytest

from tests.seeds import run_seed
from wherecast.language.meaning import regex_set
from wherecast.language.meaning.regex import WORK_MAX, compile_regex, rlike, unknown_verdicts
from wherecast.language.meaning.regex_set import RegexSet, find_set
from wherecast.model import FilterError

PIECES = ["a", "b", "[ab]", ".", "a+", "(?:ab)*", "b{2}", "^a", "b$", "a|b", "é", r"\d", "c?"]


def random_expressions(rng: Random, count: int) -> list[str]:
    return ["".join(rng.choices(PIECES[:-1], k=rng.randint(1, 3))) for _ in range(count)]


def taken(texts: list[str]) -> list[str]:
    found = []
    for text in texts:
        try:
            compile_regex(text)
        except FilterError:
            continue
        found.append(text)
    return found


def test_a_set_agrees_with_its_expressions() -> None:
    rng = Random(run_seed())
    for _ in range(60):
        texts = taken(random_expressions(rng, rng.randint(0, 30)))
        regexes = RegexSet(texts)
        assert len(regexes) == len(texts)
        for _ in range(30):
            value = "".join(rng.choices("abcé1\n", k=rng.randint(0, 9)))
            found, unknown = regexes.found(value)
            wanted = [place for place, text in enumerate(texts) if rlike(value, text)]
            assert (sorted(found), unknown) == (wanted, []), (texts, value)


def test_a_set_of_several_automata(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex_set, "_PROGRAM_MAX", 100)
    texts = [f"x{number}y" for number in range(200)]
    regexes = RegexSet(texts)
    assert len(regexes._parts) > 5
    assert sorted(regexes.found("x7y x150y")[0]) == [7, 150]


def test_without_memory_expressions_are_tried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex_set, "_MEMORY_MAX", 4_096)
    regexes = RegexSet([f"x{number}y" for number in range(200)])
    assert regexes._parts[0]._automaton is None
    assert sorted(regexes.found("x7y x150y")[0]) == [7, 150]


def test_long_strings_are_tried_one_by_one_and_unknown_beyond_the_limit() -> None:
    texts = [f"x{number}y" for number in range(100)] + ["b[ab]{100}c"]
    regexes, long = RegexSet(texts), "x42y" + "a" * (WORK_MAX // 100)
    before = unknown_verdicts()
    assert regexes.found(long) == ([42], [100])
    assert unknown_verdicts() == before + 1
    assert rlike(long, texts[100]) is None


def test_a_set_is_made_when_it_pays() -> None:
    texts = tuple(f"q{number}" for number in range(8))
    assert find_set(texts[:7], 1_000) is None
    assert find_set(texts, 1) is None
    again = find_set(texts, 1)
    assert again is not None
    assert find_set(texts, 100) is again
    assert find_set(texts[::-1], 100) is not None

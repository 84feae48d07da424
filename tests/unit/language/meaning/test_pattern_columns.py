"""The verdicts on a column are those of `evaluate`, string by string."""

from random import Random

import numpy as np
import pyarrow as pa

from tests.seeds import run_seed
from wherecast.language.meaning.evaluate import evaluate
from wherecast.language.meaning.expression import Pattern
from wherecast.language.meaning.pattern_columns import TextColumn, pattern_verdicts
from wherecast.language.meaning.regex import WORK_MAX, compile_regex
from wherecast.model import Attribute

S = Attribute("s", "string")
LETTERS = ["a", "b", "A", "é", "É", "İ", "ß", "Σ", "ς", "\0", "\n", "😀", "%", "_", "\\"]


def one_by_one(predicate: Pattern, texts: list[str | None]) -> list[bool]:
    return [evaluate(predicate, {"s": text}) is True for text in texts]


def random_pattern(rng: Random) -> Pattern:
    kind = rng.choice(["like", "ilike", "prefix", "suffix", "contains"])
    letters = rng.choices(LETTERS[:-3], k=rng.randint(0, 4))
    if "like" in kind:
        letters += rng.choices(["%", "_", "!%", "!_", "!!"], k=rng.randint(0, 4))
        rng.shuffle(letters)
    return Pattern(S, kind, "".join(letters), "!", rng.random() < 0.3)  # type: ignore[arg-type]


def test_columns_agree_with_the_definition() -> None:
    rng = Random(run_seed())
    for _ in range(150):
        texts = [
            "".join(rng.choices(LETTERS, k=rng.randint(0, 6))) for _ in range(rng.randint(0, 40))
        ]
        column = TextColumn(pa.array(texts, rng.choice([pa.string(), pa.large_string()])))
        for _ in range(30):
            pattern = random_pattern(rng)
            wanted = one_by_one(pattern, texts)
            assert column.verdicts(pattern).tolist() == wanted, (pattern, texts)
            places = sorted(rng.sample(range(len(texts)), k=rng.randint(0, len(texts))))
            some = column.some_verdicts(pattern, np.array(places, np.int64))
            assert some.tolist() == [wanted[place] for place in places]


def test_a_part_that_lies_across_two_strings_is_no_part() -> None:
    for texts in (
        ["a", "b", "", "ab", "b\0", "a", "\0a", "b\0a", "a\0a"],
        ["a", "b", "", "", "ab"],
    ):
        array = pa.array(texts)
        for text in ("", "ab", "b\0a", "\0", "a\0b", "\0\0", "a\0", "\0a"):
            contains, prefix, suffix = (
                pattern_verdicts(Pattern(S, kind, text), array).tolist()  # type: ignore[arg-type]
                for kind in ("contains", "prefix", "suffix")
            )
            assert contains == [text in t for t in texts]
            assert prefix == [t.startswith(text) for t in texts]
            assert suffix == [t.endswith(text) for t in texts]


def test_long_columns_are_compared_by_arrow() -> None:
    texts = ["ab" * 5_000, "b" * 10_000 + "ä", "", "ba"]
    for kind, text in (("prefix", "ab"), ("suffix", "ä"), ("suffix", ""), ("prefix", "b")):
        pattern = Pattern(S, kind, text)  # type: ignore[arg-type]
        found = pattern_verdicts(pattern, pa.array(texts)).tolist()
        assert found == one_by_one(pattern, list(texts))


def test_a_part_of_an_array_and_missing_strings() -> None:
    texts = ["x", "ab", None, "b", "abc"]
    array = pa.array(texts)
    for pattern in (Pattern(S, "prefix", "a"), Pattern(S, "like", "a_%", negated=True)):
        assert pattern_verdicts(pattern, array).tolist() == one_by_one(pattern, texts)
        sliced = array.slice(3)
        assert pattern_verdicts(pattern, sliced).tolist() == one_by_one(pattern, texts[3:])


def test_a_lone_surrogate_is_in_no_string() -> None:
    for kind in ("prefix", "suffix", "contains", "like", "ilike"):
        found = pattern_verdicts(Pattern(S, kind, "\ud800"), pa.array(["a", "\U00010000"]))  # type: ignore[arg-type]
        assert not np.any(found)


REGEXES = ["a", "^A", "b$", "[aé]+", "(?i)a.b", "\\S", "a|b", ".", "^$", "😀", "\\p{L}{2}", "a{2}"]


def test_expressions_on_a_column() -> None:
    rng = Random(run_seed())
    for _ in range(60):
        texts = ["".join(rng.choices(LETTERS, k=rng.randint(0, 6))) for _ in range(20)]
        column = TextColumn(pa.array(texts))
        for text in REGEXES:
            pattern = Pattern(S, "rlike", text, negated=rng.random() < 0.5)
            assert column.verdicts(pattern).tolist() == one_by_one(pattern, list(texts))


def test_many_expressions_at_once() -> None:
    rng = Random(run_seed())
    most = WORK_MAX // compile_regex("b[ab]{300}c").program
    texts = ["".join(rng.choices(LETTERS, k=rng.randint(0, 6))) for _ in range(20)]
    texts.append("a" * (most + 1))
    patterns = [
        Pattern(S, "rlike", text, negated=negated)
        for text in [*REGEXES, "b[ab]{300}c"]
        for negated in (False, True)
    ]
    found = TextColumn(pa.array(texts)).regex_verdicts(patterns)
    assert found is not None
    assert found.tolist() == [one_by_one(pattern, list(texts)) for pattern in patterns]
    assert not found[-2:, -1].any()  # unknown, negated or not
    assert TextColumn(pa.array(texts)).regex_verdicts(patterns[:3]) is None

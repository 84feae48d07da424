"""LIKE patterns: reading, simplifying and testing them in linear time.

A pattern is cut at its `%` into parts of characters and `_`. The first part must stand at the
start, the last at the end, and each one between is taken where it first fits: no backtracking, so
a hostile pattern costs no more than a plain one.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wherecast.language.meaning.expression import Pattern, PatternKind
from wherecast.model import FilterError, Limits

ANY = "\N{NUL}%"  # two characters that reading a pattern puts for a wildcard, see `_symbols`
ONE = "\N{NUL}_"


class PatternProblem(ValueError):
    """A pattern that LIKE refuses."""


@dataclass(frozen=True, slots=True)
class Like:
    """A pattern that was read: its symbols, each a character, `ANY` or `ONE`."""

    symbols: tuple[str, ...]

    @property
    def wildcards(self) -> int:
        """The number of `%` and `_`."""
        return sum(len(symbol) == 2 for symbol in self.symbols)

    def parts(self) -> list["re.Pattern[str]"]:
        """The parts between `%`, each as an expression without repetition."""
        found = [""]
        for symbol in self.symbols:
            if symbol == ANY:
                found.append("")
            else:
                found[-1] += "." if symbol == ONE else re.escape(symbol)
        return [re.compile(part, re.DOTALL) for part in found]


@lru_cache(maxsize=65_536)
def read_like(text: str, escape: str) -> Like:
    """The pattern in a text.

    Raises:
        PatternProblem: the escape character stands before an ordinary one, or last.
    """
    return Like(tuple(_symbols(text, escape)))


def count_wildcards(text: str, escape: str) -> int:
    """The number of `%` and `_` of a pattern.

    Raises:
        PatternProblem: as `read_like`.
    """
    if escape not in text:
        return text.count("%") + text.count("_")
    return read_like(text, escape).wildcards


def plain_form(text: str, escape: str) -> tuple[PatternKind | None, str] | None:
    """The plain test that a pattern amounts to: (kind, text), kind None for equality.

    None where it is a pattern proper.
    """
    symbols: Sequence[str] = text
    wildcards: tuple[str, str] = ("%", "_")
    if escape in text:
        symbols, wildcards = read_like(text, escape).symbols, (ANY, ONE)
    opens = len(symbols) > 0 and symbols[0] == wildcards[0]
    closes = len(symbols) > opens and symbols[-1] == wildcards[0]
    inside = symbols[int(opens) : len(symbols) - int(closes)]
    if wildcards[0] in inside or wildcards[1] in inside:
        return None
    kind: PatternKind | None = (
        ("contains" if closes else "suffix") if opens else ("prefix" if closes else None)
    )
    return kind, "".join(inside)


def _symbols(text: str, escape: str) -> list[str]:
    symbols: list[str] = []
    place = 0
    while place < len(text):
        character = text[place]
        if character == escape:
            place += 1
            follower = text[place : place + 1]
            if not follower or (follower not in "%_" and follower != escape):
                raise PatternProblem(
                    f"in the pattern {text!r} the escape character {escape!r} must stand before"
                    f" %, _ or itself"
                )
            symbols.append(follower)
        else:
            symbols.append({"%": ANY, "_": ONE}.get(character, character))
        place += 1
    return symbols


@lru_cache(maxsize=16_384)
def _compiled(text: str, escape: str) -> list["re.Pattern[str]"]:
    return read_like(text, escape).parts()


def like(value: str, text: str, escape: str) -> bool:
    """Whether a string has the form of a LIKE pattern."""
    first, *rest = _compiled(text, escape)
    if not rest:
        return first.fullmatch(value) is not None
    start = first.match(value)
    if start is None:
        return False
    place = start.end()
    *middle, last = rest
    for part in middle:
        found = part.search(value, place)
        if found is None:
            return False
        place = found.end()
    length = read_like(text, escape).symbols[::-1]
    tail = length.index(ANY) if ANY in length else 0
    return len(value) - tail >= place and last.fullmatch(value, len(value) - tail) is not None


def ilike(value: str, text: str, escape: str) -> bool:
    """Whether a string has the form of a LIKE pattern, both in lower case, as Spark does."""
    return like(value.lower(), text.lower(), escape)


def check_pattern(pattern: Pattern, limits: Limits, position: int | None = None) -> None:
    """Refuses a LIKE pattern that is malformed or has too many wildcards."""
    if pattern.kind not in ("like", "ilike"):
        return
    text = pattern.text.lower() if pattern.kind == "ilike" else pattern.text
    try:
        wildcards = count_wildcards(text, pattern.escape)
    except PatternProblem as problem:
        raise FilterError(str(problem), position) from None
    if wildcards > limits.pattern_wildcards_max:
        message = f"the pattern exceeds the limit of {limits.pattern_wildcards_max} wildcards"
        raise FilterError(message, position, code="limit")


PATTERNS: dict[str, Callable[[str, str, str], bool]] = {
    "like": like,
    "ilike": ilike,
    "prefix": lambda value, text, _: value.startswith(text),
    "suffix": lambda value, text, _: value.endswith(text),
    "contains": lambda value, text, _: text in value,
}
"""The test of each kind of pattern: of a value, with the text of the pattern and its escape."""


def pattern_verdict(pattern: Pattern, value: str) -> bool | None:
    """Whether a string satisfies a pattern predicate; None where that cannot be told."""
    found: bool | None = PATTERNS[pattern.kind](value, pattern.text, pattern.escape)
    return None if found is None else found != pattern.negated

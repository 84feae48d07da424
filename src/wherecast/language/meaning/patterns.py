"""Patterns: reading, simplifying, checking and testing them.

Forms of LIKE that were read stay in a cache which is bounded by bytes.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wherecast.language.byte_cache import ByteCache
from wherecast.language.meaning.expression import Pattern, PatternKind
from wherecast.language.meaning.like import ANY, ONE, LikeForm, like_form, unescaped_form
from wherecast.language.meaning.regex import compile_regex, rlike
from wherecast.model import FilterError, Limits

_FORMS_BYTES_MAX = 16 * 1024 * 1024
_FORM_BYTES, _RUN_BYTES = 600, 250  # of the objects of a form, measured


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


def _form_bytes(key: tuple[str, str], form: LikeForm) -> int:
    runs = sum(len(part.runs) for part in form.parts)
    return _FORM_BYTES + 2 * sys.getsizeof(key[0]) + _RUN_BYTES * (runs + len(form.parts))


_forms: ByteCache[tuple[str, str], LikeForm] = ByteCache(_FORMS_BYTES_MAX, _form_bytes)


def form_of(text: str, escape: str) -> LikeForm:
    """The form that a LIKE pattern describes.

    Raises:
        PatternProblem: as `read_like`.
    """
    return _forms.get((text, escape), _read_form)


def _read_form(key: tuple[str, str]) -> LikeForm:
    text, escape = key
    return like_form(read_like(text, escape).symbols) if escape in text else unescaped_form(text)


def like(value: str, text: str, escape: str) -> bool:
    """Whether a string has the form of a LIKE pattern."""
    return form_of(text, escape).holds(value)


def ilike(value: str, text: str, escape: str) -> bool:
    """Whether a string has the form of a LIKE pattern, both in lower case, as Spark does."""
    return like(value.lower(), text.lower(), escape)


def check_pattern(pattern: Pattern, limits: Limits, position: int | None = None) -> None:
    """Refuses a pattern that is malformed, or that could cost too much."""
    if pattern.kind == "rlike":
        program = compile_regex(pattern.text, position).program
        if program > limits.regex_program_max:
            message = (
                f"the pattern needs {program} instructions and exceeds the limit of"
                f" {limits.regex_program_max}"
            )
            raise FilterError(message, position, code="limit")
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


PATTERNS: dict[str, Callable[[str, str, str], bool | None]] = {
    "like": like,
    "ilike": ilike,
    "prefix": lambda value, text, _: value.startswith(text),
    "suffix": lambda value, text, _: value.endswith(text),
    "contains": lambda value, text, _: text in value,
    "rlike": lambda value, text, _: rlike(value, text),
}
"""The test of each kind of pattern: of a value, with the text of the pattern and its escape."""


def pattern_verdict(pattern: Pattern, value: str) -> bool | None:
    """Whether a string satisfies a pattern predicate; None where that cannot be told."""
    found = PATTERNS[pattern.kind](value, pattern.text, pattern.escape)
    return None if found is None else found != pattern.negated

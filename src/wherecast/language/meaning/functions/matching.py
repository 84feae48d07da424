"""Patterns as functions, for patterns that are no constants; a bad one gives NULL and counts."""

from collections.abc import Callable
from functools import partial

from wherecast.language.meaning.functions.signature import Function, fixed
from wherecast.language.meaning.patterns import PATTERNS, PatternProblem
from wherecast.language.meaning.row_errors import PATTERN, count_errors
from wherecast.language.meaning.value_types import BOOL, STRING, ValueType
from wherecast.model import FilterError


def _apply(
    test: Callable[[str, str, str], bool | None],
    _: ValueType,
    value: str,
    text: str,
    escape: str = "\\",
) -> bool | None:
    try:
        return test(value, text, escape)
    except (PatternProblem, FilterError):
        count_errors(PATTERN)
        return None


MATCHING: dict[str, Function] = {
    kind: Function(
        2,
        3 if kind in ("like", "ilike") else 2,  # these take the escape character
        fixed((STRING, STRING, STRING), BOOL),
        partial(_apply, test),
    )
    for kind, test in PATTERNS.items()
}

"""Many regular expressions on one string at once: one automaton finds them all in one pass.

Concurrency: any number of threads may use a set.
"""

from collections.abc import Sequence

import re2

from wherecast.language.byte_cache import ByteCache
from wherecast.language.meaning.regex import (
    WORK_MAX,
    Regex,
    automaton_of,
    compile_regex,
    encoded,
    unknowns,
)
from wherecast.language.meaning.regex_syntax import to_re2

_SET_WORK_MAX = 2 * WORK_MAX  # bytes times instructions of an automaton
_PROGRAM_MAX = 30_000  # instructions of an automaton
_MEMORY_MAX = 8 << 20  # bytes that RE2 may take for its states
_REGEX_BYTES = 4_096  # of an expression beside its automaton
_EXPRESSIONS_MIN = 8  # for which a set is worth its compilation
_STRINGS_MIN = 16  # for which a set is worth it at once
_SETS_BYTES_MAX, _ASKED_BYTES_MAX = 128 * 1024 * 1024, 100_000


class RegexSet:
    """Several expressions that one automaton finds in a string at once.

    Expressions that do not fit into one automaton are spread over several. Where a string is so
    long that an automaton could cost too much, or an automaton takes too much memory, its
    expressions are tried one by one.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """Compiles the expressions.

        Raises:
            FilterError: one of them is refused.
        """
        self._regexes = [compile_regex(text) for text in texts]
        self._largest = max((regex.program for regex in self._regexes), default=0)
        self._parts: list[_SetPart] = []
        start = 0
        while start < len(texts):
            end, program = start, 0
            while end < len(texts) and (end == start or program <= _PROGRAM_MAX):
                program += self._regexes[end].program
                end += 1
            self._parts.append(_SetPart(texts[start:end], self._regexes[start:end], start, program))
            start = end

    def __len__(self) -> int:
        return len(self._regexes)

    @property
    def nbytes(self) -> int:
        """The bytes that the automata may take."""
        return len(self._parts) * _MEMORY_MAX + _REGEX_BYTES * len(self)

    def found(self, value: str) -> tuple[list[int], list[int]]:
        """The places of the expressions that are in a string, and of those that are unknown."""
        given = encoded(value)
        found = [place for part in self._parts for place in part.found(given)]
        if len(given) * self._largest <= WORK_MAX:
            return found, []
        unknown = [
            place
            for place, regex in enumerate(self._regexes)
            if len(given) * regex.program > WORK_MAX
        ]
        unknowns.add(len(unknown))
        return found, unknown


class _SetPart:
    """Consecutive expressions of a set, with one automaton where it fits into memory."""

    def __init__(
        self, texts: Sequence[str], regexes: list[Regex], first: int, program: int
    ) -> None:
        self._regexes, self._first, self._program = regexes, first, program
        self._automaton: re2.Set | None
        try:
            self._automaton = automaton_of([to_re2(t).encode() for t in texts], _MEMORY_MAX)
        except re2.error:
            self._automaton = None

    def found(self, given: bytes) -> list[int]:
        """The places of the expressions that are surely in UTF-8."""
        if self._automaton is not None and len(given) * self._program <= _SET_WORK_MAX:
            return [self._first + place for place in self._automaton.Match(given) or ()]
        return [
            self._first + place
            for place, regex in enumerate(self._regexes)
            if len(given) * regex.program <= WORK_MAX and regex.is_in(given)
        ]


_sets: ByteCache[tuple[str, ...], RegexSet] = ByteCache(
    _SETS_BYTES_MAX, lambda texts, found: found.nbytes + sum(map(len, texts))
)
_asked: ByteCache[int, bool] = ByteCache(_ASKED_BYTES_MAX, lambda _, __: 100)


def find_set(texts: tuple[str, ...], strings: int) -> RegexSet | None:
    """The set of expressions, or None where it is not worth its compilation.

    It is where there are many strings to try, or the same expressions were asked for together
    before; and never for a few expressions.

    Raises:
        FilterError: one of the expressions is refused.
    """
    if len(texts) < _EXPRESSIONS_MIN:
        return None
    if strings < _STRINGS_MIN and _asked.find(hash(texts)) is None:
        _asked.get(hash(texts), lambda _: True)
        return None
    return _sets.get(texts, RegexSet)

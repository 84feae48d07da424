"""RLIKE: regular expressions with the meaning of Spark's, found anywhere in a string, by RE2.

RE2 needs time in proportion to the bytes of a string times the instructions of its program. Both
are bounded: a filter may have programs of `Limits.regex_program_max` instructions, and where bytes
times instructions exceed `WORK_MAX` the verdict is unknown and counted. `regex_syntax` says what of
Java's expressions is taken.

Concurrency: any number of threads may use an expression or a set.
"""

from collections.abc import Sequence
from threading import Lock

import re2

from wherecast.language.byte_cache import ByteCache
from wherecast.language.meaning.regex_classes import RegexProblem
from wherecast.language.meaning.regex_syntax import to_re2
from wherecast.language.meaning.row_errors import REGEX_LIMIT, count_errors
from wherecast.model import FilterError

WORK_MAX = 4_000_000  # bytes of a string times instructions; about 40 ms where states explode
_MEMORY_MAX = 1 << 20  # bytes that RE2 may take for states
_CACHE_BYTES_MAX = 32 * 1024 * 1024
_REGEX_BYTES, _INSTRUCTION_BYTES = 4_096, 128  # of an expression with the states it usually has
_SHOWN_MAX = 80  # characters of an expression that an error repeats


class UnknownVerdicts:
    """Counts verdicts that are unknown because they would cost too much."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = Lock()

    def add(self, count: int) -> None:
        """Counts some more."""
        with self._lock:
            self.count += count
        count_errors(REGEX_LIMIT, count)


unknowns = UnknownVerdicts()


def unknown_verdicts() -> int:
    """The number of verdicts of this process that are unknown because of `WORK_MAX`."""
    return unknowns.count


class Regex:
    """One expression.

    Attributes:
        program: the number of its instructions.
    """

    __slots__ = ("_automaton", "program")

    def __init__(self, text: str) -> None:
        """Compiles an expression.

        Raises:
            RegexProblem, re2.error: it is refused.
        """
        written = to_re2(text).encode()
        self.program: int = re2.compile(written, _options(_MEMORY_MAX)).programsize
        self._automaton = automaton_of([written], _MEMORY_MAX)

    def holds(self, value: str) -> bool | None:
        """Whether the expression is found in a string; None where that would cost too much."""
        given = encoded(value)
        if len(given) * self.program > WORK_MAX:
            unknowns.add(1)
            return None
        return self.is_in(given)

    def is_in(self, given: bytes) -> bool:
        """Whether the expression is found in UTF-8, whatever it costs."""
        return self._automaton.Match(given) is not None


def _size_of(text: str, regex: Regex) -> int:
    return _REGEX_BYTES + 4 * len(text) + _INSTRUCTION_BYTES * regex.program


_regexes: ByteCache[str, Regex] = ByteCache(_CACHE_BYTES_MAX, _size_of)


def compile_regex(text: str, position: int | None = None) -> Regex:
    """The expression in a text.

    Args:
        text: as Java's `Pattern` reads it.
        position: of the text in its filter, for the error.

    Raises:
        FilterError: names what is refused and its place in the text.
    """
    try:
        return _regexes.get(text, Regex)
    except RegexProblem as problem:
        reason = str(problem)
    except re2.error as error:
        said = error.args[0]
        reason = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    shown = text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + "…"
    raise FilterError(f"RLIKE does not take {reason} of the pattern {shown!r}", position)


def rlike(value: str, text: str) -> bool | None:
    """Whether an expression is found in a string; None where that would cost too much."""
    return compile_regex(text).holds(value)


def automaton_of(written: Sequence[bytes], memory_max: int) -> re2.Set:
    """The automaton that tells which expressions of RE2 are in UTF-8.

    Raises:
        re2.error: an expression is refused, or the automaton needs more memory.
    """
    automaton = re2.Set.SearchSet(_options(memory_max))
    for expression in written:
        automaton.Add(expression)
    automaton.Compile()
    return automaton


def _options(memory_max: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory_max
    return options


def encoded(value: str) -> bytes:
    """A string as RE2 takes it; a lone surrogate is one character."""
    return value.encode("utf-8", "surrogatepass")

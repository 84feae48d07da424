"""A column of strings against patterns: the verdicts of `evaluate`, for all strings at once.

Prefixes and suffixes are compared by Arrow. A part of a string is found in all strings at once,
which are joined to one. A LIKE pattern is tested only where its longest run of letters
is found so. Regular expressions are evaluated string by string, many at once where they come
together. All of it is linear in the strings; `match_like` of Arrow is not, and is not used.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import texts_of, values_of
from wherecast.language.meaning.expression import Pattern
from wherecast.language.meaning.patterns import form_of, pattern_verdict
from wherecast.language.meaning.regex import compile_regex
from wherecast.language.meaning.regex_set import RegexSet, find_set

Bools = npt.NDArray[np.bool_]

_SINGLE_COST = 16  # strings that a column decides in the time of one decided alone
_JOINED_MAX = 16_384  # letters
_BETWEEN = "\0"  # keeps most letters from beginning in one string and ending in the next
_ENDS = {"prefix": pc.get_function("starts_with"), "suffix": pc.get_function("ends_with")}


def pattern_verdicts(pattern: Pattern, texts: pa.Array) -> Bools:
    """Where a pattern is true.

    Shapes: texts strings [n], a null is never true; result bool [n].
    Cost: linear in the bytes of the strings.
    """
    return TextColumn(texts).verdicts(pattern)


class TextColumn:
    """A column of strings, with what several patterns need of it made once."""

    def __init__(self, texts: pa.Array) -> None:
        self._array = texts
        self._texts: list[str] | None = None
        self._joined = ""
        self._starts: list[int] = []  # the sign before each string
        self._is_cut = False  # whether the sign stands only between strings
        self._lower: TextColumn | None = None

    def __len__(self) -> int:
        return len(self._array)

    def verdicts(self, pattern: Pattern) -> Bools:
        """Where a pattern is true, bool [strings]."""
        if not self._array.null_count:
            return self._pattern(pattern)
        found = [one_verdict(pattern, text) for text in self._array.to_pylist()]
        return np.array(found, bool)

    def some_verdicts(self, pattern: Pattern, places: npt.NDArray[np.int64]) -> Bools:
        """Where a pattern is true of some of the strings.

        Shapes: places int64 [some], distinct and ascending; result bool [some].
        """
        if len(places) == len(self):
            return self.verdicts(pattern)
        if len(places) * _SINGLE_COST >= len(self):
            return self.verdicts(pattern)[places]
        given = self._array if self._texts is None else self._texts
        texts = [given[place] for place in places.tolist()]
        if self._texts is None:
            texts = [text.as_py() for text in texts]
        return np.array([one_verdict(pattern, text) for text in texts], bool)

    def regex_verdicts(self, patterns: Sequence[Pattern]) -> Bools | None:
        """Where regular expressions are true, all at once, or None where one by one is sooner.

        Shapes: patterns of kind `rlike`; result bool [patterns, strings].
        """
        found = find_set(tuple(pattern.text for pattern in patterns), len(self))
        return None if found is None else self._set_verdicts(found, patterns)

    def _set_verdicts(self, regexes: RegexSet, patterns: Sequence[Pattern]) -> Bools:
        negated = np.array([[pattern.negated] for pattern in patterns], bool)
        verdicts = np.repeat(negated, len(self), axis=1)
        for place, text in enumerate(self._strings()):
            found, unknown = regexes.found(text)
            verdicts[found, place] ^= True
            verdicts[unknown, place] = False
        return verdicts

    def _pattern(self, pattern: Pattern) -> Bools:
        column, kind, text = self, pattern.kind, pattern.text
        if kind == "rlike":
            return self._rlike(pattern)
        if kind == "ilike":
            column, kind, text = self._in_lower_case(), "like", text.lower()
        if not text and kind != "like":
            found = np.ones(len(self), bool)
        elif kind in _ENDS:
            found = column._ends(kind, text)
        elif kind == "contains":
            found = column._contains(text)
        else:
            found = column._like(text, pattern.escape)
        return ~found if pattern.negated else found

    def _in_lower_case(self) -> "TextColumn":
        if self._lower is None:
            self._lower = TextColumn(texts_of([text.lower() for text in self._strings()]))
        return self._lower

    def _ends(self, kind: str, text: str) -> Bools:
        """Where strings begin or end with a text.

        In few short strings a text beside the sign between two strings is found sooner than Arrow
        is called.
        """
        self._strings()
        if self._is_cut and len(self._joined) <= _JOINED_MAX:
            found = np.zeros(len(self), bool)
            if kind == "prefix":
                found[self._places(_BETWEEN + text, before=1)] = True
            else:
                found[self._places(text + _BETWEEN, behind=1)] = True
            return found
        try:
            options = pc.MatchSubstringOptions(text)
        except UnicodeEncodeError:  # a lone surrogate, which no string of Arrow has
            return np.zeros(len(self), bool)
        return values_of(_ENDS[kind].call([self._array], options))

    def _contains(self, text: str) -> Bools:
        found = np.zeros(len(self), bool)
        found[self._places(text)] = True
        return found

    def _like(self, text: str, escape: str) -> Bools:
        form, strings = form_of(text, escape), self._strings()
        found = np.zeros(len(self), bool)
        places = self._places(form.longest_run) if form.longest_run else range(len(self))
        found[[place for place in places if form.holds(strings[place])]] = True
        return found

    def _rlike(self, pattern: Pattern) -> Bools:
        regex, wanted = compile_regex(pattern.text), not pattern.negated
        return np.array([regex.holds(text) is wanted for text in self._strings()], bool)

    def _places(self, letters: str, before: int = 0, behind: int = 0) -> list[int]:
        """The places of the strings that contain some letters.

        Each string is looked at once: what begins in it and does not end in it leaves no room for
        a later beginning.

        Args:
            letters: at least one.
            before: 1 where the letters may begin with the sign before a string.
            behind: 1 where the letters may end with the sign behind a string.
        """
        self._strings()
        joined, starts, found = self._joined, self._starts, []
        at = joined.find(letters)
        while at >= 0:
            place = bisect_right(starts, at) - 1
            if place == len(self):  # the last sign
                break
            if at == starts[place] and not before:
                at = joined.find(letters, at + 1)
                continue
            following = starts[place + 1]
            if at + len(letters) <= following + behind:
                found.append(place)
            at = joined.find(letters, following)
        return found

    def _strings(self) -> list[str]:
        if self._texts is None:
            self._texts = self._array.to_pylist()
            self._joined = _BETWEEN.join(["", *self._texts, ""])
            self._starts = [0, *accumulate(len(text) + 1 for text in self._texts)]
            self._is_cut = self._joined.count(_BETWEEN) == len(self._texts) + 1
        return self._texts


def one_verdict(pattern: Pattern, text: str | None) -> bool:
    """Whether a pattern is true of a string; it never is of a missing one."""
    return text is not None and pattern_verdict(pattern, text) is True

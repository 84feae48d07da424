r"""Regular expressions of Java, as Spark's RLIKE takes them, written for RE2.

Only what RE2 can say with Java's meaning is written; everything else is refused with its name and
its place. Groups capture nothing and quantifiers are greedy, since only the verdict is wanted.
What the two mean differently is spelled out: `.` excludes all line terminators of Java, `\s` has
the vertical tab, `(?i)` folds only ASCII letters, `$` may stand before a last line terminator.

What still differs from Java:

- `\b` and `\B` know ASCII words only, as Java does from 19 on; Java 17 takes all letters.
- `$` behind a `\r` that was taken also holds between the two characters of a last `\r\n`.
- Properties of letters such as `\p{Lu}` are of RE2's Unicode version, not of Java's.
"""

import re
from dataclasses import dataclass

from wherecast.language.meaning.regex_classes import (
    ANY_LETTER,
    LINE_TERMINATORS,
    CharacterReader,
    class_of,
    letter_of,
)

_END = rf"(?:(?:\r\n|[{LINE_TERMINATORS}])?\z)"
_REPEATED_MAX = 1_000  # more RE2 refuses
_REPETITION = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")
_NAMED = re.compile(r"\(\?<([a-zA-Z][a-zA-Z0-9]*)>")
_REFUSED_GROUPS = {
    "(?=": "look-ahead",
    "(?!": "negative look-ahead",
    "(?<=": "look-behind",
    "(?<!": "negative look-behind",
    "(?>": "atomic group",
}
_REFUSED_ESCAPES = {
    "G": "the end of the previous match",
    "R": "the line break",
    "X": "the grapheme cluster",
    "k": "back-reference",
} | dict.fromkeys("123456789", "back-reference")


@dataclass(slots=True)
class _Group:
    """An open group; the whole expression is the outermost.

    Attributes:
        place: where it begins.
        ignore_case, dot_all: the flags outside, which are back in force after it.
        end: the place of a `$` that ended the alternative, or None.
        some_end: the place of a `$` in any of its alternatives, or None.
    """

    place: int
    ignore_case: bool
    dot_all: bool
    end: int | None = None
    some_end: int | None = None


def to_re2(text: str) -> str:
    """The expression as RE2 reads it.

    Raises:
        RegexProblem: it has what RE2 lacks, or Java refuses it.
    """
    return _Translator(text).translate()


class _Translator(CharacterReader):
    """Reads an expression once, from left to right."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._written: list[str] = []
        self._groups = [_Group(0, False, False)]
        self._names: set[str] = set()
        self._is_operand = False  # whether a quantifier may follow
        self._dot_all = False

    def translate(self) -> str:
        """The whole expression."""
        while self.at < len(self.text):
            self._step()
        if len(self._groups) > 1:
            raise self.problem("an unclosed group", self._groups[-1].place)
        return "".join(self._written)

    def _step(self) -> None:
        sign, place = self.text[self.at], self.at
        if sign == "\\":
            self._escape()
        elif sign == "[":
            self._operand(self.read_class(), place)
        elif sign == "(":
            self._open()
        elif sign == ")":
            self._close()
        elif sign in "*+?{":
            self._quantifier()
        else:
            self.at += 1
            if sign == "|":
                self._groups[-1].end, self._is_operand = None, False
                self._written.append("|")
            elif sign == "$":
                self._end(place)
            elif sign == "^":
                self._operand(r"\A", place)
            elif sign == ".":
                dot = rf"[{ANY_LETTER}]" if self._dot_all else rf"[^{LINE_TERMINATORS}]"
                self._operand(dot, place)
            else:
                self._operand(letter_of(ord(sign), self.ignore_case), place)

    def _operand(self, written: str, place: int) -> None:
        end = self._groups[-1].end
        if end is not None:
            raise self.problem("`$` before the end of an alternative", end)
        self._written.append(written)
        self._is_operand = True

    def _end(self, place: int) -> None:
        self._operand(_END, place)
        self._groups[-1].end = self._groups[-1].some_end = place

    def _escape(self) -> None:
        place, sign = self.at, self.text[self.at + 1 : self.at + 2]
        if sign == "Q":
            end = self.text.find("\\E", self.at + 2)
            end = len(self.text) if end < 0 else end
            for quoted in self.text[self.at + 2 : end]:
                self._operand(letter_of(ord(quoted), self.ignore_case), place)
            self.at = end + 2
        elif self.text.startswith(r"\b{", place):
            raise self.problem(r"the boundary of grapheme clusters `\b{`", place)
        elif sign in ("A", "z", "b", "B"):
            self.at += 2
            self._operand("\\" + sign, place)
        elif sign == "Z":
            self.at += 2
            self._end(place)
        elif sign in _REFUSED_ESCAPES:
            raise self.problem(f"{_REFUSED_ESCAPES[sign]} `\\{sign}`", place)
        else:
            item = self.read_escape()
            written = letter_of(item, self.ignore_case) if isinstance(item, int) else class_of(item)
            self._operand(written, place)

    def _open(self) -> None:
        place = self.at
        for sign, name in _REFUSED_GROUPS.items():
            if self.text.startswith(sign, place):
                raise self.problem(f"{name} `{sign}`", place)
        group = _Group(place, self.ignore_case, self._dot_all)
        if named := _NAMED.match(self.text, place):
            if named[1] in self._names:
                raise self.problem(f"a second group `{named[1]}`", place)
            self._names.add(named[1])
            self.at = named.end()
        elif self.text.startswith("(?", place):
            flags = _FLAGS.match(self.text, place)
            if flags is None:
                raise self.problem(f"group `{self.text[place : place + 4]}`", place)
            self._set_flags(flags)
            self.at = flags.end()
            if flags[3] == ")":
                self._is_operand = False
                return
        else:
            self.at += 1
        self._operand("(?:", place)
        self._groups.append(group)
        self._is_operand = False

    def _set_flags(self, flags: "re.Match[str]") -> None:
        for letters, is_on in ((flags[1], True), (flags[2] or "", False)):
            for letter in letters:
                if letter == "i":
                    self.ignore_case = is_on
                elif letter == "s":
                    self._dot_all = is_on
                else:
                    raise self.problem(f"flag `{letter}`", flags.start())

    def _close(self) -> None:
        if len(self._groups) == 1:
            raise self.problem("`)` without a group", self.at)
        self.at += 1
        closed = self._groups.pop()
        self.ignore_case, self._dot_all = closed.ignore_case, closed.dot_all
        self._written.append(")")
        self._is_operand = True
        if closed.some_end is not None:
            self._groups[-1].end = self._groups[-1].some_end = closed.some_end

    def _quantifier(self) -> None:
        place, sign = self.at, self.text[self.at]
        if not self._is_operand:
            raise self.problem(f"quantifier `{sign}` without an operand", place)
        if self._groups[-1].end is not None:
            raise self.problem("a repeated `$`", self._groups[-1].end)
        if sign == "{":
            self._written.append(self._repetition())
        else:
            self.at += 1
            self._written.append(sign)
        following = self.text[self.at : self.at + 1]
        if following == "+":
            raise self.problem(f"possessive quantifier `{self.text[place : self.at + 1]}`", place)
        self.at += following == "?"
        self._is_operand = False

    def _repetition(self) -> str:
        found = _REPETITION.match(self.text, self.at)
        if found is None:
            raise self.problem("`{` without a number of repetitions", self.at)
        least, most = found[1], found[3] or found[1]
        if max(len(least), len(most)) > 4 or max(int(least), int(most)) > _REPEATED_MAX:
            raise self.problem(f"more than {_REPEATED_MAX:,} repetitions `{found[0]}`", self.at)
        if int(most) < int(least):
            raise self.problem(f"inverted repetition `{found[0]}`", self.at)
        self.at = found.end()
        return found[0]

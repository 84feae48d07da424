"""LIKE in linear time: a pattern is cut at its `%` into parts, and each part is found by its runs.

A part is letters and `_`; a run is letters without `_` between them. The first part must stand at
the start, the last at the end, and each one between is taken where it first fits, so nothing is
tried twice. A part of one run is found by `str.find`. Of several runs the longest is found and the
others are compared in place. Where that fails too often, one bit for each place of the text tells
where the part still fits, and whole integers are shifted and and-ed.

Cost: the length of the text, times the length of the pattern / 30 at worst (the digits of Python's
integers have 30 bits).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

ANY = "\N{NUL}%"  # a symbol of two characters for a wildcard; letters are symbols of one
ONE = "\N{NUL}_"
_FREE_COMPARISONS = 1_000  # of runs, before places are weighed against comparisons
_PLACES_PER_COMPARISON = 16
_WINDOW_MIN, _WINDOW_MAX = 4_096, 262_144  # places whose bits are computed at once
_FEW_PLACES = 32  # so few are compared one by one
_DIGIT_BITS = 30


@dataclass(slots=True)
class Effort:
    """The work that searches did: letters scanned, runs compared and digits of integers."""

    steps: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """What stands between two `%`.

    Attributes:
        length: the number of letters and `_`.
        runs: the offset and the letters of each run.
        key: the place in `runs` of the longest run, -1 where there is no run.
    """

    length: int
    runs: tuple[tuple[int, str], ...]
    key: int

    def fits(self, value: str, start: int) -> bool:
        """Whether the part stands at a place of a text that is long enough for it."""
        return all(value.startswith(letters, start + offset) for offset, letters in self.runs)


@dataclass(frozen=True, slots=True)
class LikeForm:
    """A pattern that was read.

    Attributes:
        parts: what stands between its `%`; where there is only one part, it is the whole string.
        length_min: the least number of letters of a string of this form.
        longest_run: the letters of the longest run, which each such string has; maybe none.
    """

    parts: tuple[Part, ...]
    length_min: int
    longest_run: str

    def holds(self, value: str, effort: Effort | None = None) -> bool:
        """Whether a string has this form."""
        parts = self.parts
        if len(value) < self.length_min:
            return False
        if len(parts) == 1:
            return len(value) == self.length_min and parts[0].fits(value, 0)
        end = len(value) - parts[-1].length
        if not parts[0].fits(value, 0) or not parts[-1].fits(value, end):
            return False
        place = parts[0].length
        for part in parts[1:-1]:
            found = find_part(value, part, place, effort)
            if found < 0:
                return False
            place = found + part.length
        return place <= end


def like_form(symbols: Sequence[str]) -> LikeForm:
    """The form that symbols describe, each a letter, `ANY` or `ONE`."""
    parts: list[list[str]] = [[""]]
    run: list[str] = []
    for symbol in symbols:
        if len(symbol) == 1:
            run.append(symbol)
            continue
        parts[-1][-1] = "".join(run)
        run = []
        if symbol == ANY:
            parts.append([""])
        else:
            parts[-1].append("")
    parts[-1][-1] = "".join(run)
    return _form(parts)


def unescaped_form(text: str) -> LikeForm:
    """The form that a pattern without escapes describes; faster than by its symbols."""
    return _form([part.split("_") for part in text.split("%")])


def _form(texts: list[list[str]]) -> LikeForm:
    parts = tuple(_part(runs) for runs in texts)
    runs = (part.runs[part.key][1] for part in parts if part.runs)
    return LikeForm(parts, sum(part.length for part in parts), max(runs, key=len, default=""))


def _part(texts: list[str]) -> Part:
    """The part of runs, which may be empty, with one `_` between each two."""
    runs, offset = [], 0
    for letters in texts:
        if letters:
            runs.append((offset, letters))
        offset += len(letters) + 1
    key = max(range(len(runs)), key=lambda number: len(runs[number][1]), default=-1)
    return Part(offset - 1, tuple(runs), key)


def find_part(value: str, part: Part, start: int, effort: Effort | None = None) -> int:
    """Where a part first fits at or after a place, or -1."""
    if start + part.length > len(value):
        return -1
    if part.key < 0:
        return start
    lead, letters = part.runs[part.key]
    others = part.runs[: part.key] + part.runs[part.key + 1 :]
    last = len(value) - part.length + lead  # the last place of the key
    at, compared = start + lead, 0
    while True:
        found = value.find(letters, at, last + len(letters))
        _add(effort, max(0, (last if found < 0 else found) - at) + len(letters))
        if found < 0:
            return -1
        first = found - lead
        for offset, run in others:
            compared += 1 + len(run) // _PLACES_PER_COMPARISON
            if not value.startswith(run, first + offset):
                break
        else:
            _add(effort, compared)
            return first
        if compared > _FREE_COMPARISONS + (first - start) // _PLACES_PER_COMPARISON:
            _add(effort, compared)
            return find_by_bits(value, part, first + 1, effort)
        at = found + 1


def find_by_bits(value: str, part: Part, start: int, effort: Effort | None = None) -> int:
    """Where a part with runs first fits at or after a place, or -1, by a bit for each place.

    The text is searched window by window, each twice as long as the one before, so that the cost
    follows the distance to the place that is found.
    """
    size = _WINDOW_MIN
    while start + part.length <= len(value):
        window = value[start : start + size + part.length - 1]
        found = _first_fit(window, part, effort)
        if found >= 0:
            return start + found
        start += size
        size = min(2 * size, max(_WINDOW_MAX, part.length))
    return -1


def _first_fit(window: str, part: Part, effort: Effort | None) -> int:
    """The first place of a window where a part fits, or -1."""
    codes = np.frombuffer(window.encode("utf-32-le", "surrogatepass"), np.uint32)
    digits = len(codes) // _DIGIT_BITS + 1
    fits = (1 << (len(codes) - part.length + 1)) - 1
    bits_of: dict[str, int] = {}
    for offset, letters in part.runs:
        for first, count in _repeats(letters):
            letter = letters[first]
            if letter not in bits_of:
                bits_of[letter] = _bits(codes == ord(letter))
                _add(effort, digits)
            bits, have = bits_of[letter], 1
            while have < count:
                step = min(have, count - have)
                bits &= bits >> step
                have += step
                _add(effort, 2 * digits)
            fits &= bits >> (offset + first)
            _add(effort, 2 * digits)
            if not fits:
                return -1
        if fits.bit_count() <= _FEW_PLACES:
            return _first_of(window, part, fits, effort)
    return (fits & -fits).bit_length() - 1


def _first_of(window: str, part: Part, fits: int, effort: Effort | None) -> int:
    """The first of a few places where a part fits, or -1."""
    while fits:
        place = (fits & -fits).bit_length() - 1
        _add(effort, len(part.runs) + part.length // _PLACES_PER_COMPARISON)
        if part.fits(window, place):
            return place
        fits &= fits - 1
    return -1


def _repeats(letters: str) -> list[tuple[int, int]]:
    """The place and the length of each stretch of one letter."""
    found, start = [], 0
    for place in range(1, len(letters) + 1):
        if place == len(letters) or letters[place] != letters[start]:
            found.append((start, place - start))
            start = place
    return found


def _bits(there: npt.NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(there, bitorder="little").tobytes(), "little")


def _add(effort: Effort | None, steps: int) -> None:
    if effort is not None:
        effort.steps += steps

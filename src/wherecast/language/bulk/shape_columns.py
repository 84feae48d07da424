"""The constants of the filters of one shape, as columns of keys, string numbers and patterns."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.decimal_units import units_of
from wherecast.arrays.vectors import texts_of, values_of
from wherecast.language.bulk.literals import Literals
from wherecast.language.meaning.constraint import simplified
from wherecast.language.meaning.expression import (
    Between,
    Comparison,
    Distance,
    Member,
    Pattern,
    Predicate,
)
from wherecast.language.meaning.keys import float_keys
from wherecast.language.meaning.patterns import check_pattern
from wherecast.language.table.table_builder import TableBuilder
from wherecast.model import Attribute, FilterError, Limits, parse_time
from wherecast.model.times import has_offset

Ints = npt.NDArray[np.int64]
_USUAL_TIME = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z?)?$"
_EXACT_DIGITS = 15  # a decimal text of so many characters is the shortest form of its double


class Unfit(Exception):
    """A shape, or a use of constants, that is read one by one."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a constant: its number in the text, its sign, and whether it is a date alone."""

    number: int
    negative: bool = False
    date: bool = False


def slots_of(leaf: Predicate) -> list[Slot]:
    """The slots of a predicate, in order."""
    return [value for value in _constants(leaf) if isinstance(value, Slot)]


def _constants(leaf: Predicate) -> Iterator[Any]:
    match leaf:
        case Comparison():
            yield leaf.value
        case Between():
            yield from (leaf.low, leaf.high)
        case Member():
            yield from leaf.values
        case Pattern():
            yield leaf.text
        case Distance():
            yield from (*leaf.point, leaf.metres)


class ShapeColumns:
    """The constants of the filters of one shape; `regular` tells which rows stay regular."""

    def __init__(
        self, starts: Ints, literals: Literals, builder: TableBuilder, limits: Limits
    ) -> None:
        self._starts = starts
        self._literals = literals
        self._limits = limits
        self.builder = builder
        self.regular = np.ones(len(starts), bool)

    def require(self, mask: npt.NDArray[np.bool_]) -> None:
        """Marks the rows where the mask is false as irregular."""
        self.regular &= mask

    def _places(self, slot: Any) -> Ints:
        if not isinstance(slot, Slot):  # a constant that the shape has fixed, beside slots
            raise Unfit
        places = self._starts + slot.number
        self.require(self._literals.lengths[places] <= self._limits.literal_bytes_max)
        return places

    def floats(self, slot: Any) -> npt.NDArray[np.float64]:
        """The doubles of a slot; -0.0 is 0."""
        values = self._literals.floats[self._places(slot)]
        self.require(np.isfinite(values))
        return (-values if slot.negative else values) + 0.0

    def strings(self, slot: Any) -> Ints:
        """The numbers of the strings of a slot, or of one string that stands in the shape."""
        numbers = self._literals.strings[self._places(slot)]
        self.require(numbers >= 0)
        return np.maximum(numbers, 0)

    def keys(self, attribute: Attribute, slot: Any) -> Ints:
        """The keys of a slot beside an attribute that is no string."""
        if attribute.scale:
            return self._units(attribute, slot)
        if attribute.grid is not None:
            return self._grid_keys(attribute, slot)
        if attribute.type == "float":
            return float_keys(self.floats(slot))
        if attribute.type == "timestamp":
            return self._times(attribute, slot)
        places = self._places(slot)
        whole = self._literals.ints[places]
        if (self._literals.floats[places] != whole).any() and attribute.type == "int":
            exact = self._literals.floats[places] == whole.astype(np.float64)
            self.require(exact)
        return -whole if slot.negative else whole

    def _units(self, attribute: Attribute, slot: Slot) -> Ints:
        """The units of constants beside a decimal, where they are whole."""
        if attribute.grid is not None:
            raise Unfit
        places = self._places(slot)
        units, sure = units_of(self._literals.floats[places], attribute.scale)
        self.require(sure & (self._literals.lengths[places] <= _EXACT_DIGITS))
        return -units if slot.negative else units

    def _grid_keys(self, attribute: Attribute, slot: Slot) -> Ints:
        """The keys of constants rounded to the attribute's step, each distinct one once."""
        places = self._places(slot)
        self.require(self._literals.lengths[places] <= _EXACT_DIGITS)
        grid = attribute.grid
        assert grid is not None
        distinct, back = np.unique(self.floats(slot), return_inverse=True)
        finite = np.where(np.isfinite(distinct), distinct, 0.0)
        try:
            rounded = [grid.round(value) for value in finite.tolist()]
        except OverflowError:
            raise Unfit from None
        if attribute.type == "int":
            if any(abs(value) > 2**62 for value in rounded):
                raise Unfit
            return np.array(rounded, np.int64)[back]
        return float_keys(np.array(rounded, np.float64))[back]

    def _times(self, attribute: Attribute, slot: Slot) -> Ints:
        """The microseconds of time texts, all at once where they are of the usual form."""
        distinct, back = np.unique(self.strings(slot), return_inverse=True)
        texts = [self.builder.string_at(number) for number in distinct.tolist()]
        micros, valid = read_times(texts)
        if slot.date:
            valid &= np.array([len(text) == 10 for text in texts])
        if attribute.clock == "local":
            valid &= np.array([not has_offset(text) for text in texts])
        self.require(valid[back])
        return micros[back]

    def _mapped(self, numbers: Ints, function: Any) -> Ints:
        """A function of each distinct string; rows where it gives None are irregular."""
        distinct, back = np.unique(numbers, return_inverse=True)
        results = [function(number) for number in distinct.tolist()]
        self.require(np.array([result is not None for result in results])[back])
        return np.array([result or 0 for result in results], np.int64)[back]

    def after(self, numbers: Ints) -> Ints:
        """The number of the string that follows each."""
        return self._mapped(
            numbers, lambda n: self.builder.string(self.builder.string_at(n) + "\0")
        )

    def patterns(self, leaf: Predicate) -> Ints:
        """The numbers of a string predicate, its slots filled, each distinct one made once."""
        slots = slots_of(leaf)
        given = np.stack([self.strings(slot) for slot in slots], axis=1)
        distinct, back = np.unique(given, axis=0, return_inverse=True)
        made = [self._made(leaf, slots, numbers) for numbers in distinct.tolist()]
        back = back.reshape(-1)
        self.require(np.array([number is not None for number in made])[back])
        return np.array([number or 0 for number in made], np.int64)[back]

    def _made(self, leaf: Predicate, slots: list[Slot], numbers: list[int]) -> int | None:
        """The number of one filled predicate, or None where it becomes something else."""
        if isinstance(leaf, Pattern):
            return self._made_pattern(leaf, self.builder.string_at(numbers[0]))
        texts = dict(zip(slots, map(self.builder.string_at, numbers), strict=True))
        return self.builder.pattern(_filled(leaf, texts))

    def _made_pattern(self, leaf: Pattern, text: str) -> int | None:
        """The number of a pattern with a text, or None where it is refused or becomes equality."""
        filled = replace(leaf, text=text)
        try:
            check_pattern(filled, self._limits)
        except FilterError:
            return None
        settled = simplified(filled)
        return self.builder.pattern(settled) if isinstance(settled, Pattern) else None


def read_times(texts: list[str]) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Microseconds since 1970 of ISO 8601 texts, and which of them are times."""
    column = texts_of(texts)
    if pc.all(pc.match_substring_regex(column, _USUAL_TIME)).as_py():
        with contextlib.suppress(pa.ArrowInvalid):  # an impossible one among them
            times = pc.cast(pc.utf8_rtrim(column, "Z"), pa.timestamp("us"))
            return values_of(times.cast(pa.int64())), np.ones(len(texts), bool)
    micros, valid = np.zeros(len(texts), np.int64), np.ones(len(texts), bool)
    for place, text in enumerate(texts):
        try:
            micros[place] = parse_time(text)
        except ValueError:
            valid[place] = False
    return micros, valid


def _filled(leaf: Predicate, texts: dict[Slot, str]) -> Predicate:
    """A string predicate with strings in the place of its slots."""

    def fill(value: Any) -> Any:
        return texts[value] if isinstance(value, Slot) else value

    match leaf:
        case Comparison():
            return replace(leaf, value=fill(leaf.value))
        case Between():
            return replace(leaf, low=fill(leaf.low), high=fill(leaf.high))
        case Member():
            return replace(leaf, values=tuple(fill(value) for value in leaf.values))
    raise Unfit

"""The predicate table: a column of filters as arrays, the form that every index is built from.

    filters ──conjunction_offsets──▶ conjunctions ──predicate_offsets──▶ predicates

A predicate row has an attribute, a kind, and two 64-bit numbers whose meaning is the kind's:

| kind       | low                                  | high                                 |
|------------|--------------------------------------|--------------------------------------|
| RANGE      | the least key                        | the greatest key                     |
| TEXT_RANGE | the number of the least string or -1 | of the string before which it ends   |
| SET        | start in `set_keys`                  | end in `set_keys`                    |
| NOT_SET    | start in `set_keys`                  | end in `set_keys`                    |
| PATTERN    | place in `patterns`                  | 0                                    |
| PRESENT    | 0                                    | 0                                    |
| MISSING    | 0                                    | 0                                    |
| DISTANCE   | row of `distances`                   | 0                                    |
| RESIDUAL   | place in `residuals`                 | 0                                    |

A filter whose conjunctions do not decide has a *program*, which decides the candidates that the
conjunctions find. It stands as one more conjunction, the last one; its rows are tests, and have
jumps: where to go on if the test is true, and if it is not, each 16 bits, counted from the first
row of the program, or `MATCHES` or `FAILS`. The jump of any other row is 0.

Strings are numbered in code point order, so their numbers compare as they do. The rows of a
conjunction, but for those of programs, are ordered by attribute and kind; the same filters give
the same bytes, however they were read.
"""

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.language.meaning.constraint import Constraint, Key
from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.expression import Compared, Distance, Operator, Pattern
from wherecast.language.meaning.keys import RANGES
from wherecast.language.meaning.normal_form import Conjunction, Residual
from wherecast.language.text.write import write
from wherecast.model import Attribute, FilterError

OPERATORS: tuple[Operator, ...] = ("=", "<>", "<", "<=", ">", ">=")


class Kind(IntEnum):
    """What a predicate row asks."""

    RANGE = 0
    TEXT_RANGE = 1
    SET = 2
    NOT_SET = 3
    PATTERN = 4
    PRESENT = 5
    MISSING = 6
    DISTANCE = 7
    RESIDUAL = 8


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """The distance predicates: attributes, points, operators and metres, a row each."""

    latitudes: npt.NDArray[np.int32]
    longitudes: npt.NDArray[np.int32]
    points: npt.NDArray[np.float64]
    operators: npt.NDArray[np.uint8]
    metres: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PredicateTable:
    """A column of filters, read.

    Attributes:
        attributes: what `attribute` counts, declared ones first, in the schema's order.
        conjunction_offsets: int64 [filters + 1].
        predicate_offsets: int64 [conjunctions + 1].
        attribute, kind, low, high: int32, uint8, int64, int64 [predicates].
        jumps: uint32 [predicates], on true in the upper half, on false in the lower.
        set_keys: int64, keys of numbers or numbers of strings, sorted within a set.
        strings: the strings that predicates name, distinct, in code point order.
        patterns: the string predicates that are neither intervals nor sets, distinct.
        distances: the distance predicates.
        residuals: the comparisons of two attributes, distinct.
        rejected: the rows that are no filters, each with its error; they have no conjunction.
        shapes: how many distinct shapes the column had.
    """

    attributes: tuple[Attribute, ...]
    conjunction_offsets: npt.NDArray[np.int64]
    predicate_offsets: npt.NDArray[np.int64]
    attribute: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    jumps: npt.NDArray[np.uint32]
    set_keys: npt.NDArray[np.int64]
    strings: pa.Array
    patterns: tuple[Pattern, ...]
    distances: Distances
    residuals: tuple[Compared, ...]
    rejected: tuple[tuple[int, FilterError], ...]
    shapes: int

    def __len__(self) -> int:
        return len(self.conjunction_offsets) - 1

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays and the strings."""
        arrays = (
            self.conjunction_offsets, self.predicate_offsets, self.attribute, self.kind,
            self.low, self.high, self.jumps, self.set_keys,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays) + int(self.strings.nbytes)

    def checksum(self) -> str:
        """A short hash of everything the table says."""
        digest = blake2b(digest_size=8)
        for array in (
            self.conjunction_offsets, self.predicate_offsets, self.attribute, self.kind,
            self.low, self.high, self.jumps, self.set_keys, self.distances.latitudes,
            self.distances.longitudes, self.distances.points, self.distances.operators,
            self.distances.metres,
        ):  # fmt: skip
            digest.update(np.ascontiguousarray(array).tobytes())
        for text in (*(a.name for a in self.attributes), *self.strings.to_pylist()):
            digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        leaves: list[Pattern | Compared] = [*self.patterns, *self.residuals]
        for leaf in leaves:
            digest.update(write(leaf).encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()

    def are_programs(self) -> npt.NDArray[np.bool_]:
        """Which conjunctions are programs, bool [conjunctions]."""
        firsts = self.predicate_offsets[:-1]
        found = np.zeros(len(firsts), bool)
        filled = firsts < self.predicate_offsets[1:]
        found[filled] = self.jumps[firsts[filled]] != 0
        return found

    @cached_property
    def covers(self) -> "PredicateTable":
        """The table without its programs: what is indexed."""
        programs = self.are_programs()
        if not programs.any():
            return self
        kept = ~programs
        rows = np.repeat(kept, np.diff(self.predicate_offsets))
        owners = np.repeat(np.arange(len(self)), np.diff(self.conjunction_offsets))
        counts = np.bincount(owners[kept], minlength=len(self))
        return replace(
            self,
            conjunction_offsets=np.concatenate([[0], np.cumsum(counts)]),
            predicate_offsets=np.concatenate(
                [[0], np.cumsum(np.diff(self.predicate_offsets)[kept])]
            ),
            attribute=self.attribute[rows], kind=self.kind[rows], low=self.low[rows],
            high=self.high[rows], jumps=self.jumps[rows],
        )  # fmt: skip

    @cached_property
    def eager(self) -> int:
        """How many attributes, the first ones, are computed for every publication.

        The others are derived ones that only programs look at: they come last.
        """
        count = len(self.attributes)
        used = np.zeros(count, bool)
        used[self.attribute[self.jumps == 0]] = True
        while count and isinstance(self.attributes[count - 1], Derived) and not used[count - 1]:
            count -= 1
        return count

    def conjunctions(self, row: int) -> tuple[Conjunction, ...]:
        """The indexed conjunctions of one filter as objects, for people and tests."""
        first, last = self.conjunction_offsets[row : row + 2].tolist()
        programs = self.are_programs()
        return tuple(
            self._conjunction(number) for number in range(first, last) if not programs[number]
        )

    def _conjunction(self, number: int) -> Conjunction:
        first, last = self.predicate_offsets[number : number + 2].tolist()
        constraints: dict[Attribute, Constraint] = {}
        residual: list[Residual] = []
        for place in range(first, last):
            kind, low = Kind(self.kind[place]), int(self.low[place])
            if kind == Kind.RESIDUAL:
                residual.append(self.residuals[low])
            elif kind == Kind.DISTANCE:
                residual.append(self._distance(low))
            else:
                attribute = self.attributes[self.attribute[place]]
                fields = self._fields(kind, attribute, low, int(self.high[place]))
                before = constraints.get(attribute)
                constraints[attribute] = _merged(before, attribute, fields)
        ordered = sorted(constraints.values(), key=lambda c: (c.attribute.name, c.attribute.type))
        return Conjunction(tuple(ordered), tuple(sorted(residual, key=write)))

    def _fields(self, kind: Kind, attribute: Attribute, low: int, high: int) -> dict[str, Any]:
        """The fields of a constraint that one predicate row sets."""
        if kind == Kind.RANGE:
            least, most = RANGES[attribute.type]
            return {"low": None if low == least else low, "high": None if high == most else high}
        if kind == Kind.TEXT_RANGE:
            return {"low": self._string(low), "high": self._string(high)}
        if kind in (Kind.SET, Kind.NOT_SET):
            keys: list[Key] = self.set_keys[low:high].tolist()
            if attribute.type == "string":
                keys = [self.strings[key].as_py() for key in keys]
            return {"values" if kind == Kind.SET else "excluded": tuple(keys)}
        if kind == Kind.PATTERN:
            return {"patterns": (self.patterns[low],)}
        return {"presence": "missing"} if kind == Kind.MISSING else {}

    def _string(self, number: int) -> str | None:
        return None if number < 0 else self.strings[number].as_py()

    def _distance(self, row: int) -> Distance:
        rows = self.distances
        point: list[float] = rows.points[row].tolist()
        return Distance(
            self.attributes[rows.latitudes[row]],
            self.attributes[rows.longitudes[row]],
            (point[0], point[1]),
            OPERATORS[rows.operators[row]],
            float(rows.metres[row]),
        )


def _merged(before: Constraint | None, attribute: Attribute, fields: dict[str, Any]) -> Constraint:
    """A constraint with the fields of one more predicate row."""
    if before is None:
        return Constraint(attribute, **fields)
    given = {name: getattr(before, name) for name in Constraint.__slots__ if name != "attribute"}
    patterns = given["patterns"] + fields.pop("patterns", ())
    return Constraint(attribute, **{**given, **fields, "patterns": patterns})

"""Single tests of candidates, decided on the canonical row by the definition."""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from wherecast.language.meaning.element import Element
from wherecast.language.meaning.evaluate import Row, evaluate, row_value
from wherecast.language.meaning.expression import Distance, Expression
from wherecast.language.meaning.keys import float_key
from wherecast.language.meaning.patterns import pattern_verdict
from wherecast.language.table.predicate_table import OPERATORS, Kind
from wherecast.matching.columnar.layout import Exact
from wherecast.matching.columnar.search.programs import Programs
from wherecast.matching.columnar.snapshot import Snapshot


def programs_of(snapshot: Snapshot) -> Programs | None:
    """What decides the candidates of a snapshot; None where nothing remains to be decided."""
    if snapshot.programs is None and len(snapshot.later.rows):
        return Programs.of_all(snapshot.table, snapshot.plain)
    return snapshot.programs


class RowTests:
    """The tests of a table on one publication.

    Args:
        programs: whose tests are asked.
        row: the canonical row.
        key_of: gives the key of a string.
    """

    def __init__(self, programs: Programs, row: Row, key_of: Callable[[str], int]) -> None:
        self._programs, self._row, self._key_of = programs, row, key_of
        self._keys: dict[int, int | None] = {}

    def holds(self, place: int) -> bool:
        """Whether the predicate of a row of the table holds."""
        table = self._programs.table
        kind, low = int(table.kind[place]), int(table.low[place])
        leaf: Expression
        if kind == Kind.PATTERN:  # which may be shared by several attributes
            value = row_value(table.attributes[table.attribute[place]], self._row)
            return value is not None and pattern_verdict(table.patterns[low], value) is True
        if kind == Kind.RESIDUAL:
            leaf = table.residuals[low]
        elif kind == Kind.DISTANCE:
            leaf = self._distance(low)
        else:
            return self._key_holds(place)
        return evaluate(leaf, self._row) is True

    def _distance(self, number: int) -> Distance:
        table = self._programs.table
        given = table.distances
        latitude, longitude = given.points[number].tolist()
        return Distance(
            table.attributes[given.latitudes[number]], table.attributes[given.longitudes[number]],
            (latitude, longitude), OPERATORS[given.operators[number]], float(given.metres[number]),
        )  # fmt: skip

    def _key_holds(self, place: int) -> bool:
        slot, kind = int(self._programs.exact.slots[place]), int(self._programs.exact.kinds[place])
        attribute = self._programs.table.attributes[slot]
        if isinstance(attribute, Element):
            return self._elements_hold(place, kind, self._row.get(attribute.name))
        key = self._key(slot)
        if kind == Exact.MISSING:
            return key is None
        return key is not None and self._contains(place, kind, key)

    def _elements_hold(self, place: int, kind: int, array: Any) -> bool:
        """Whether a predicate holds on the elements of an array, None where there is none."""
        if array is None:
            return False
        asked = Exact.SET if kind == Exact.NOT_SET else kind
        keys = [self._key_of_value(one) for one in array if one is not None]
        inside = any(self._contains(place, asked, key) for key in keys)
        return inside if kind == asked else not inside and None not in array

    def _contains(self, place: int, kind: int, key: int) -> bool:
        """Whether a key is in the range or the set of a predicate."""
        exact = self._programs.exact
        low, high = int(exact.lows[place]), int(exact.highs[place])
        if kind == Exact.RANGE:
            return low <= key <= high
        if kind in (Exact.SET, Exact.NOT_SET):
            at = bisect_left(exact.keys, key, low, high)
            inside = at < high and int(exact.keys[at]) == key
            return inside == (kind == Exact.SET)
        return True

    def _key(self, slot: int) -> int | None:
        """The key of a value; a derived one is computed once, since errors count each time."""
        if slot not in self._keys:
            value = row_value(self._programs.table.attributes[slot], self._row)
            self._keys[slot] = None if value is None else self._key_of_value(value)
        return self._keys[slot]

    def _key_of_value(self, value: Any) -> int:
        if isinstance(value, str):
            return self._key_of(value)
        return float_key(value) if isinstance(value, float) else int(value)

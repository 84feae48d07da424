"""Single tests of candidates, decided on the canonical row by the definition."""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from wherecast.language.meaning.evaluate import Row, evaluate, row_value
from wherecast.language.meaning.expression import Distance, Expression
from wherecast.language.meaning.keys import float_key
from wherecast.language.table.predicate_table import OPERATORS, Kind
from wherecast.matching.columnar.layout import Exact
from wherecast.matching.columnar.search.programs import Programs


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
        if kind == Kind.PATTERN:
            leaf = table.patterns[low]
        elif kind == Kind.RESIDUAL:
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
        exact = self._programs.exact
        key, kind = self._key(int(exact.slots[place])), int(exact.kinds[place])
        if kind == Exact.MISSING:
            return key is None
        if key is None:
            return False
        low, high = int(exact.lows[place]), int(exact.highs[place])
        if kind == Exact.RANGE:
            return low <= key <= high
        if kind in (Exact.SET, Exact.NOT_SET):
            at = bisect_left(exact.keys, key, low, high)
            inside = at < high and int(exact.keys[at]) == key
            return inside == (kind == Exact.SET)
        return True

    def _key(self, slot: int) -> int | None:
        """The key of a derived value; computed once, since errors count each time."""
        if slot not in self._keys:
            attribute = self._programs.table.attributes[slot]
            value: Any = row_value(attribute, self._row)
            if isinstance(value, str):
                value = self._key_of(value)
            elif attribute.type == "float" and value is not None:
                value = float_key(value)
            self._keys[slot] = None if value is None else int(value)
        return self._keys[slot]

"""The grid of an attribute that declares a step: whole steps from its lower bound.

A value is rounded to the nearest whole step on its shortest decimal form, ties upward, in exact
arithmetic. The origin is the lower bound, or 0 where none is declared.

Source: elastic BE-Tree, section 5.1, which leaves origin and ties open.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import floor


def exact(number: float | Decimal) -> Fraction:
    """The number as written: a float stands for its shortest decimal form."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


@dataclass(frozen=True, slots=True)
class Grid:
    """The values `origin + i * step`; positions are exact, values are what is stored."""

    origin: Fraction
    step: Fraction
    whole: bool

    def index(self, number: float | Decimal) -> int:
        """The whole step nearest to a finite number, ties upward."""
        return floor((exact(number) - self.origin) / self.step + Fraction(1, 2))

    def value(self, index: int) -> int | float:
        """The value at a whole step: an int for an int attribute, else the nearest double."""
        number = self.origin + index * self.step
        return int(number) if self.whole else float(number)

    def round(self, number: float | Decimal) -> int | float:
        """The value of the whole step nearest to a finite number."""
        return self.value(self.index(number))


@lru_cache(maxsize=4096)
def grid(minimum: float | None, step: Decimal, whole: bool) -> Grid:
    """The grid of an attribute; `whole` for int attributes."""
    return Grid(exact(0 if minimum is None else minimum), Fraction(step), whole)

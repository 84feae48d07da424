"""The predicates of rules: comparisons, ranges, lists, patterns and arithmetic.

A number has one of 10,000 equally likely values: 0.0, 0.01, …, 99.99. A string has one of 100
equally likely values: v0, v1, …, v99. Predicates of the same kind share one function that draws
constants, so a chunk of filters needs one draw per kind.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from wherecast.workloads.draws import Floats
from wherecast.workloads.mixed_attributes import Strings
from wherecast.workloads.mixed_leaves import PredicateForm
from wherecast.workloads.text import float_texts

FLOATS = tuple(f"f{number}" for number in range(20))
TEXTS = tuple(f"s{number}" for number in range(10))
VALUES = tuple(f"v{number}" for number in range(100))
GRID = 10_000  # values of a number
MISSING = 0.1  # share of missing values
COMPARISONS = ("<", "<=", ">", ">=")
PATTERNS = {"v{}%": 0.1, "%{}": 0.1, "%v_{}%": 0.09}
"""The patterns, with a digit to set in, and the share of the values that match one."""
SUMS: dict[str, tuple[Callable[[Floats, Floats], Floats], int, int]] = {
    "{0} + {1}": (lambda x, y: x + y, 20, 150),
    "{0} - {1}": (lambda x, y: x - y, -50, 60),
    "{0} * {1}": (lambda x, y: x * y, 100, 8_000),
    "{0} * 2 - {1}": (lambda x, y: x * 2 - y, -50, 60),
}
"""The arithmetic on two numbers: its function, and the least and the greatest constant."""

_QUOTED = np.array([f"'{value}'" for value in VALUES], object)
_COMPARED = (1_000, 9_000)  # positions of the constants of comparisons on the grid
_STARTS, _WIDTHS = (0, 7_000), (500, 3_000)  # of ranges
_NARROW_STARTS, _NARROW_WIDTH = (0, 9_800), 200  # of narrow ranges
_LISTED = 3  # values of a list
_STEPS = 400  # steps per attribute of a numeric integral


def comparison(name: str, operator: str) -> PredicateForm:
    """`f1 < 12.5`."""
    below = (_COMPARED[0] + _COMPARED[1] - 1) / 2 / GRID  # the mean share below a constant
    here = 1 / GRID
    holds = {"<": below, "<=": below + here, ">": 1 - below - here, ">=": 1 - below}[operator]
    return _form(name, f"{name} {operator} %s", holds, _draw_numbers)


def range_of(name: str) -> PredicateForm:
    """`f1 BETWEEN 12.5 AND 30.0`: a sixth of the values."""
    holds = ((_WIDTHS[0] + _WIDTHS[1] - 1) / 2 + 1) / GRID
    return _form(name, f"{name} BETWEEN %s AND %s", holds, _draw_ranges)


def narrow_range_of(name: str) -> PredicateForm:
    """`f1 BETWEEN 12.5 AND 14.5`: a fiftieth of the values."""
    holds = (_NARROW_WIDTH + 1) / GRID
    return _form(name, f"{name} BETWEEN %s AND %s", holds, _draw_narrow_ranges)


def equality(name: str) -> PredicateForm:
    """`s1 = 'v7'`."""
    return _form(name, f"{name} = %s", 1 / len(VALUES), _draw_value)


def inequality(name: str) -> PredicateForm:
    """`s1 <> 'v7'`."""
    return _form(name, f"{name} <> %s", 1 - 1 / len(VALUES), _draw_value)


def membership(name: str) -> PredicateForm:
    """`s1 IN ('v7', 'v9', 'v11')`."""
    return _form(name, f"{name} IN (%s, %s, %s)", _LISTED / len(VALUES), _draw_values)


def pattern_match(name: str, pattern: str) -> PredicateForm:
    """`s1 LIKE 'v7%'`."""
    return _form(name, f"{name} LIKE %s", PATTERNS[pattern], _drawn_pattern(pattern))


def sum_comparison(names: tuple[str, str], sum_: str, operator: str) -> PredicateForm:
    """`f1 * 2 - f2 < 12.5`."""
    below = _share_below(sum_)
    holds = below if operator == "<" else 1 - below
    text = f"{sum_.format(*names)} {operator} %s"
    return _form(names[0], text, holds, _drawn_sum(sum_), present=(1 - MISSING) ** 2)


def presence(name: str, is_there: bool) -> PredicateForm:
    """`f1 IS NULL` or `f1 IS NOT NULL`."""
    true = 1 - MISSING if is_there else MISSING
    text = f"{name} IS {'NOT ' if is_there else ''}NULL"
    return PredicateForm(name, text, true, 1 - true, _draw_nothing, 0)


def _form(
    name: str,
    text: str,
    holds: float,
    draw: Callable[[np.random.Generator, int], Strings],
    present: float = 1 - MISSING,
) -> PredicateForm:
    """The form that is true with probability `holds` if its attributes are present."""
    slots = text.replace("%%", "").count("%s")
    return PredicateForm(name, text, present * holds, present * (1 - holds), draw, slots)


def _literals(values: Floats) -> Strings:
    """Numbers as filters write them."""
    texts = float_texts(values.ravel()).to_pylist()
    return np.array(texts, object).reshape(values.shape)


def _draw_nothing(rng: np.random.Generator, count: int) -> Strings:
    return np.empty((count, 0), object)


def _draw_numbers(rng: np.random.Generator, count: int) -> Strings:
    return _literals(rng.integers(*_COMPARED, (count, 1)) / 100)


def _draw_ranges(rng: np.random.Generator, count: int) -> Strings:
    lows = rng.integers(*_STARTS, count)
    return _literals(np.stack([lows, lows + rng.integers(*_WIDTHS, count)], axis=1) / 100)


def _draw_narrow_ranges(rng: np.random.Generator, count: int) -> Strings:
    lows = rng.integers(*_NARROW_STARTS, count)
    return _literals(np.stack([lows, lows + _NARROW_WIDTH], axis=1) / 100)


def _draw_value(rng: np.random.Generator, count: int) -> Strings:
    return np.asarray(_QUOTED[rng.integers(0, len(VALUES), (count, 1))], object)


def _draw_values(rng: np.random.Generator, count: int) -> Strings:
    """Different values at random equal distances, from a random one on."""
    starts = rng.integers(0, len(VALUES), (count, 1))
    steps = rng.integers(1, len(VALUES) // _LISTED + 1, (count, 1))
    return np.asarray(_QUOTED[(starts + steps * np.arange(_LISTED)) % len(VALUES)], object)


@cache
def _drawn_pattern(pattern: str) -> Callable[[np.random.Generator, int], Strings]:
    """The function that draws patterns with a random digit."""
    quoted = np.array([f"'{pattern.format(digit)}'" for digit in range(10)], object)
    return lambda rng, count: quoted[rng.integers(0, len(quoted), (count, 1))]


@cache
def _drawn_sum(sum_: str) -> Callable[[np.random.Generator, int], Strings]:
    """The function that draws constants to compare with the arithmetic."""
    _, least, most = SUMS[sum_]
    return lambda rng, count: _literals(rng.integers(100 * least, 100 * most, (count, 1)) / 100)


@cache
def _share_below(sum_: str) -> float:
    """The share of results of the arithmetic below a constant, by the midpoint rule."""
    function, least, most = SUMS[sum_]
    steps = (np.arange(_STEPS) + 0.5) / _STEPS
    values = np.sort(function(100 * steps[:, None], 100 * steps), axis=None)
    constants = least + (most - least) * (np.arange(GRID) + 0.5) / GRID
    return float(np.searchsorted(values, constants).mean() / values.size)

"""The order of values: NaN equals itself and is greater than every number, as in Spark."""

from collections.abc import Callable
from typing import Any


def order(left: Any, right: Any) -> int:
    """-1, 0 or 1 for a value that comes before, with or after another."""
    if left == right:
        return 0
    if left < right:
        return -1
    if left > right:
        return 1
    return int(left != left) - int(right != right)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda left, right: order(left, right) == 0,
    "<>": lambda left, right: order(left, right) != 0,
    "<": lambda left, right: order(left, right) < 0,
    "<=": lambda left, right: order(left, right) <= 0,
    ">": lambda left, right: order(left, right) > 0,
    ">=": lambda left, right: order(left, right) >= 0,
}

"""Numbers for distinct keys, in the order of their appearance, and their final order."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Numbering:
    """Distinct keys, each with a number and the thing that it stands for."""

    numbers: dict[Any, int] = field(default_factory=dict)
    things: list[Any] = field(default_factory=list)

    def number(self, key: Any, thing: Any = None) -> int:
        """The number of a key, a new one at its first appearance; without a thing the key is it."""
        number = self.numbers.setdefault(key, len(self.things))
        if number == len(self.things):
            self.things.append(key if thing is None else thing)
        return number

    def ranked(
        self, used: Ints, place: Callable[[Any], Any] | None = None
    ) -> tuple[list[Any], Ints]:
        """The things of used numbers in the order of their keys, and the rank of each number."""
        keys = list(self.numbers)
        places = {
            number: place(keys[number]) if place else keys[number] for number in used.tolist()
        }
        order = sorted(places, key=places.__getitem__)
        return [self.things[number] for number in order], ranks_of(
            np.array(order, np.int64), len(keys)
        )


def ranks_of(order: Ints, count: int) -> Ints:
    """For each of `count` numbers its place in an order; -1 where it has none, as -1 itself."""
    ranks = np.full(count + 1, -1, np.int64)
    ranks[order] = np.arange(len(order))
    return ranks

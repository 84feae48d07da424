"""Small BE-Trees for tests."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from wherecast import Schema
from wherecast.matching.ids import Ids
from wherecast.matching.trees.betree.index import BETreeIndex
from wherecast.matching.trees.betree.parameters import TreeParameters

SMALL = TreeParameters(leaf_max=3, leaf_min=1)
PLANE = Schema.from_dict(
    {name: {"type": "float", "min": 0, "max": 16} for name in ("x", "y")} | {"s": "string"}
)


def tree_of(
    filters: Mapping[Any, str], schema: Schema = PLANE, parameters: TreeParameters = SMALL
) -> BETreeIndex:
    """A tree into which filters were put one after the other."""
    index = BETreeIndex(schema, parameters)
    for id, text in filters.items():
        index.add_all(Ids.of([id]), index.read([text]), None)
    return index


def squares(count: int) -> dict[str, str]:
    """Filters on both attributes."""
    return {
        f"q{n}": f"x BETWEEN {x} AND {x + 3} AND y BETWEEN {n // 4} AND {n // 4 + 2}"
        for n, x in zip(range(count), cycle((0, 4, 8, 12)))  # one is endless
    }

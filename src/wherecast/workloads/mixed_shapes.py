"""Shapes: filters of the mixed workload without their constants.

An attribute occurs at most once in a shape, and attributes are independent. So the probability that
a shape is true follows from those of its predicates, in three-valued logic.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wherecast.workloads.mixed_leaves import PredicateForm

_LIST = re.compile(r"\(%s(, %s)*\)")


@dataclass(frozen=True, eq=False, slots=True)
class MixedShape:
    """A filter without its constants.

    Attributes:
        text: the filter, with `%s` for each constant.
        true: the probability that the filter is true.
        false: the probability that the filter is false; otherwise it is unknown.
        leaves: the predicates, in the order of the text.
        joined: the operator between the parts: "AND", "OR" or the empty string.
    """

    text: str
    true: float
    false: float
    leaves: tuple[PredicateForm, ...]
    joined: str = ""


def draw_shapes(
    rng: np.random.Generator, leaves: Sequence[PredicateForm], count: int
) -> list[MixedShape]:
    """`count` different shapes.

    Two shapes differ in more than the lengths of lists and the order of predicates, so that every
    reader of filters counts the same number of shapes.
    """
    by_attribute: dict[str, list[PredicateForm]] = {}
    for leaf in leaves:
        by_attribute.setdefault(leaf.attribute, []).append(leaf)
    selective = {
        name: picked
        for name, forms in by_attribute.items()
        if (picked := [leaf for leaf in forms if leaf.selective])
    }
    found: dict[tuple[str, ...], MixedShape] = {}
    while len(found) < count:
        layout = _LAYOUTS[rng.integers(len(_LAYOUTS))]
        wanted = int(rng.integers(layout.predicates_min, layout.predicates_max + 1))
        parts = _draw_parts(rng, by_attribute, selective, (layout.leading, wanted))
        key = (layout.name, *sorted(_LIST.sub("(%s)", part.text) for part in parts))
        found.setdefault(key, layout.join(parts))
    return list(found.values())


def _draw_parts(
    rng: np.random.Generator,
    by_attribute: dict[str, list[PredicateForm]],
    selective: dict[str, list[PredicateForm]],
    counts: tuple[int, int],
) -> list[MixedShape]:
    """Predicates on different attributes, the leading ones selective."""
    leading, wanted = min(counts), counts[1]
    names = _some(rng, list(selective), leading)
    names += _some(rng, [name for name in by_attribute if name not in names], wanted - leading)
    parts = []
    for place, name in enumerate(names):
        forms = selective[name] if place < leading else by_attribute[name]
        leaf = forms[rng.integers(len(forms))]
        joined = "AND" if leaf.two_sided else ""
        parts.append(MixedShape(leaf.text, leaf.true, leaf.false, (leaf,), joined))
    return parts


def _some(rng: np.random.Generator, names: list[str], count: int) -> list[str]:
    """`count` different names, in random order."""
    return [names[place] for place in rng.permutation(len(names))[:count]]


def all_of(*parts: MixedShape) -> MixedShape:
    """The shape that is true if every part is true."""
    return MixedShape(
        " AND ".join(f"({part.text})" if part.joined == "OR" else part.text for part in parts),
        math.prod(part.true for part in parts),
        1 - math.prod(1 - part.false for part in parts),
        sum((part.leaves for part in parts), ()),
        "AND",
    )


def any_of(*parts: MixedShape) -> MixedShape:
    """The shape that is true if some part is true."""
    return MixedShape(
        " OR ".join(f"({part.text})" if part.joined == "AND" else part.text for part in parts),
        1 - math.prod(1 - part.true for part in parts),
        math.prod(part.false for part in parts),
        sum((part.leaves for part in parts), ()),
        "OR",
    )


def negation_of(part: MixedShape) -> MixedShape:
    """The shape that is true if the part is false."""
    return MixedShape(f"NOT ({part.text})", part.false, part.true, part.leaves)


@dataclass(frozen=True, slots=True)
class _Layout:
    """A way to combine predicates, of which the first `leading` ones are selective."""

    name: str
    predicates_min: int
    predicates_max: int
    leading: int = 1

    def join(self, parts: list[MixedShape]) -> MixedShape:
        """The parts in this layout."""
        match self.name, parts:
            case "all", _:
                return all_of(*parts)
            case "either", [first, *rest]:
                return all_of(first, any_of(*rest))
            case "neither", [first, *rest]:
                return all_of(first, negation_of(any_of(*rest)))
            case "not both", [first, second, *rest]:
                return all_of(first, second, negation_of(all_of(*rest)))
            case "two ways", [first, second, third, fourth]:
                return any_of(all_of(first, third), all_of(second, fourth))
            case _:
                return any_of(*parts)


_LAYOUTS = (
    _Layout("all", 2, 6),
    _Layout("all", 3, 5),
    _Layout("either", 3, 4),
    _Layout("neither", 3, 4),
    _Layout("not both", 4, 4),
    _Layout("two ways", 4, 4, leading=2),
    _Layout("one of", 2, 3, leading=3),
)

"""The forms of a predicate of the mixed workload.

A form is a text with a slot per constant, a function that draws the constants, and the
probabilities that the predicate is true and that it is false. In the remaining cases the predicate
is unknown, because the attribute is missing.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wherecast.workloads.draws import zipf_shares
from wherecast.workloads.mixed_attributes import (
    GridAttribute,
    MixedAttribute,
    Strings,
    TruthAttribute,
    Words,
)

Draw = Callable[[np.random.Generator, int], Strings]

_OPERATORS = ("=", "<>", "<", "<=", ">", ">=")
_SLOT = "%s"


@dataclass(frozen=True, eq=False, slots=True)
class PredicateForm:
    """One form of predicate on one attribute.

    Attributes:
        attribute: the name of the attribute.
        text: the predicate, with `%s` for each constant.
        true: the probability that the predicate is true, over constants and publications.
        false: the probability that the predicate is false.
        draw: draws the constants of `count` predicates; shape (count, slots).
        slots: the number of constants.
    """

    attribute: str
    text: str
    true: float
    false: float
    draw: Draw
    slots: int

    @property
    def two_sided(self) -> bool:
        """Whether the text is two comparisons joined by AND."""
        return self.text.count(self.attribute) == 2

    @property
    def selective(self) -> bool:
        """Whether the predicate is true rarely enough to lead a filter."""
        return 0 < self.true <= 0.02


def leaves_of(attribute: MixedAttribute) -> list[PredicateForm]:
    """Every form of predicate on the attribute."""
    if isinstance(attribute, GridAttribute):
        forms = _grid_leaves(attribute)
    elif isinstance(attribute, Words):
        forms = _word_leaves(attribute)
    else:
        forms = _flag_leaves(attribute)
    if attribute.missing:
        name, missing = attribute.name, attribute.missing
        forms.append(PredicateForm(name, f"{name} IS NULL", missing, 1 - missing, _nothing, 0))
        forms.append(PredicateForm(name, f"{name} IS NOT NULL", 1 - missing, missing, _nothing, 0))
    return forms


def _leaf(attribute: MixedAttribute, text: str, holds: float, draw: Draw) -> PredicateForm:
    """The form that is true with probability `holds` if the attribute is present."""
    present = 1 - attribute.missing
    text = f"{attribute.name} {text}"
    slots = text.count(_SLOT)
    return PredicateForm(attribute.name, text, present * holds, present * (1 - holds), draw, slots)


def _nothing(rng: np.random.Generator, count: int) -> Strings:
    """No constants."""
    return np.empty((count, 0), object)


def _flag_leaves(flag: TruthAttribute) -> list[PredicateForm]:
    half = (1 - flag.missing) / 2
    texts = (flag.name, f"NOT {flag.name}", f"{flag.name} = true")
    return [PredicateForm(flag.name, text, half, half, _nothing, 0) for text in texts]


def _grid_leaves(grid: GridAttribute) -> list[PredicateForm]:
    """Comparisons with a random value, ranges of up to a fiftieth of the grid, and lists."""
    size = grid.size

    def one(rng: np.random.Generator, count: int) -> Strings:
        return grid.literals(rng.integers(0, size, (count, 1)))

    widest = max(size // 50, 1)

    def span(rng: np.random.Generator, count: int) -> Strings:
        lows = rng.integers(0, size - widest, count)
        return grid.literals(np.stack([lows, lows + rng.integers(1, widest + 1, count)], axis=1))

    apart, ordered = 1 / size, (size - 1) / size / 2
    holds = (apart, 1 - apart, ordered, ordered + apart, ordered, ordered + apart)
    forms = [
        _leaf(grid, f"{operator} %s", share, one)
        for operator, share in zip(_OPERATORS, holds, strict=True)
    ]
    reach = (widest + 1) / 2 / size  # the mean width of a span
    forms.append(_leaf(grid, f">= %s AND {grid.name} < %s", reach, span))
    forms.append(_leaf(grid, "BETWEEN %s AND %s", reach + apart, span))
    forms.append(_leaf(grid, "NOT BETWEEN %s AND %s", 1 - reach - apart, span))
    for values in (2, 4):
        draw = _several(size, values, grid.literals)
        forms.append(_leaf(grid, f"IN ({_slots(values)})", values / size, draw))
    forms.append(
        _leaf(grid, f"NOT IN ({_slots(3)})", 1 - 3 / size, _several(size, 3, grid.literals))
    )
    return forms


def _word_leaves(words: Words) -> list[PredicateForm]:
    """Equalities and lists of random words; patterns made from a random word."""
    count = len(words.words)
    forms = [
        _leaf(words, "= %s", 1 / count, _picked(words.words)),
        _leaf(words, "<> %s", 1 - 1 / count, _picked(words.words)),
    ]
    quoted = np.array([f"'{word}'" for word in words.words], object)
    for values in (2, 3, 5):
        draw = _several(count, values, lambda indices: quoted[indices])
        forms.append(_leaf(words, f"IN ({_slots(values)})", values / count, draw))
    four = _several(count, 4, lambda indices: quoted[indices])
    forms.append(_leaf(words, f"NOT IN ({_slots(4)})", 1 - 4 / count, four))
    for patterns, share in _patterns(words):
        forms.append(_leaf(words, "LIKE %s", share, _picked(patterns)))
        forms.append(_leaf(words, "NOT LIKE %s", 1 - share, _picked(patterns)))
    return forms


def _patterns(words: Words) -> list[tuple[tuple[str, ...], float]]:
    """Per kind of pattern: the pattern of each word, and the chance that one matches a value."""
    shares = dict(zip(words.words, zipf_shares(len(words.words)).tolist(), strict=True))
    contained = {
        part: sum(share for word, share in shares.items() if part in word)
        for part in dict.fromkeys(word[1:4] for word in words.words)
    }

    def alike(key: Callable[[str], str]) -> dict[str, float]:
        held: dict[str, float] = defaultdict(float)
        for word, share in shares.items():
            held[key(word)] += share
        return held

    found = []
    for form, key, held in (
        ("{}%", _start, alike(_start)),
        ("%{}", _end, alike(_end)),
        ("%{}%", _middle, contained),
        ("{}", _blank, alike(_blank)),
    ):
        keys = [key(word) for word in words.words]
        patterns = tuple(form.format(each) for each in keys)
        found.append((patterns, sum(held[each] for each in keys) / len(keys)))
    return found


def _start(word: str) -> str:
    return word[:3]


def _end(word: str) -> str:
    return word[-3:]


def _middle(word: str) -> str:
    return word[1:4]


def _blank(word: str) -> str:
    """The pattern of the word with any first letter."""
    return "_" + word[1:]


def _picked(texts: tuple[str, ...]) -> Draw:
    """The function that draws one of the texts, in quotes."""
    quoted = np.array([f"'{text}'" for text in texts], object)
    return lambda rng, count: quoted[rng.integers(0, len(quoted), (count, 1))]


def _several(size: int, values: int, literals: Callable[..., Strings]) -> Draw:
    """The function that draws `values` different literals of `size`, all equally likely.

    The positions of the literals start at random and have a random equal distance.
    """

    def draw(rng: np.random.Generator, count: int) -> Strings:
        starts = rng.integers(0, size, (count, 1))
        steps = rng.integers(1, size // values + 1, (count, 1))
        return literals((starts + steps * np.arange(values)) % size)

    return draw


def _slots(count: int) -> str:
    """The slots of a list of `count` constants."""
    return ", ".join([_SLOT] * count)

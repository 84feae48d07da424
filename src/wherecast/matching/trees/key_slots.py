"""Slots: the attributes that filters name, numbered as they come, and the keys of their values.

A key is a 64-bit integer. Numbers, bools and times have the keys of `language.meaning.keys`. A
string of a listed domain has its place in the list. Another string has the hash of its text, or
the next free number after it: so two strings that filters name never share a key. A string that no
filter names has the key -1.

Sources: elastic BE-Tree, sections 5.1 and 6.1 (places of listed strings).
"""

from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from math import nan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wherecast.language.meaning.covering import domain, inwards
from wherecast.language.meaning.keys import value_of
from wherecast.model import Attribute

Ints = npt.NDArray[np.int64]
STRANGE = -1  # the key of a string that no filter names
UNLISTED = -2  # the key of a constant that is not in the list: no value has it
_HASH_BITS = 62
_HASHES = 1 << _HASH_BITS
WHOLE, REAL = 0, 1  # how the middle of an interval is found


class Domains(NamedTuple):
    """The domains of all slots, as kernels take them.

    Attributes:
        least, most: int64 [slots], the ends of the keys.
        first, last: float64 [slots], the declared ends as numbers; NaN where there is none.
        kinds: uint8 [slots], WHOLE or REAL.
        steps: float64 [slots], 0 where there is none.
    """

    least: Ints
    most: Ints
    first: npt.NDArray[np.float64]
    last: npt.NDArray[np.float64]
    kinds: npt.NDArray[np.uint8]
    steps: npt.NDArray[np.float64]


class Slots:
    """The attributes that the filters of one index name."""

    def __init__(self) -> None:
        self.attributes: list[Attribute] = []
        self._numbers: dict[Attribute, int] = {}
        self._places: list[dict[str, int] | None] = []
        self._strings: dict[str, int] = {}
        self._taken: set[int] = set()
        self._rows: list[tuple[int, int, float, float, int, float]] = []
        self._domains: Domains | None = None

    def __len__(self) -> int:
        return len(self.attributes)

    def number(self, attribute: Attribute) -> int:
        """The slot of an attribute, a new one where it has none yet."""
        found = self._numbers.get(attribute)
        if found is None:
            found = self._numbers[attribute] = len(self.attributes)
            self.attributes.append(attribute)
            listed = attribute.values
            places = None if listed is None else {text: n for n, text in enumerate(listed)}
            self._places.append(places)
            self._rows.append(_row(attribute))
            self._domains = None
        return found

    def find(self, attribute: Attribute) -> int | None:
        """The slot of an attribute, or None."""
        return self._numbers.get(attribute)

    def domains(self) -> Domains:
        """The domains of all slots; at least one row, so that kernels have one."""
        if self._domains is None:
            rows = self._rows or [(0, 0, nan, nan, WHOLE, 0.0)]
            least, most, first, last, kinds, steps = zip(*rows, strict=True)
            self._domains = Domains(
                np.array(least, np.int64), np.array(most, np.int64), np.array(first, np.float64),
                np.array(last, np.float64), np.array(kinds, np.uint8), np.array(steps, np.float64),
            )  # fmt: skip
        return self._domains

    def constant_key(self, slot: int, text: str) -> int:
        """The key of a string that a filter names."""
        places = self._places[slot]
        if places is not None:
            return places.get(text, UNLISTED)
        found = self._strings.get(text)
        if found is None:
            found = _hash(text)
            while found in self._taken:
                found = (found + 1) % _HASHES
            self._strings[text] = found
            self._taken.add(found)
        return found

    def value_keys(self, slot: int, texts: Sequence[str]) -> Ints:
        """The keys of strings that publications carry."""
        places = self._places[slot]
        known = self._strings if places is None else places
        return np.array([known.get(text, STRANGE) for text in texts], np.int64)

    def keep_strings(self, keys: Collection[int]) -> None:
        """Forgets all strings but those with some keys."""
        self._strings = {text: key for text, key in self._strings.items() if key in keys}
        self._taken = set(self._strings.values())

    def text_slots(self) -> list[int]:
        """The slots of strings without a list."""
        return [
            slot
            for slot, attribute in enumerate(self.attributes)
            if attribute.type == "string" and attribute.values is None
        ]


def listed_keys(attribute: Attribute, allowed: Iterable[bool]) -> list[int]:
    """The places of the listed values that are allowed."""
    return [place for place, holds in enumerate(allowed) if holds]


def _hash(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> (64 - _HASH_BITS)


def _row(attribute: Attribute) -> tuple[int, int, float, float, int, float]:
    """Least and most key, the declared ends, how it is halved, and the step."""
    if attribute.values is not None:
        return 0, len(attribute.values) - 1, 0.0, len(attribute.values) - 1.0, WHOLE, 0.0
    if attribute.type == "string":
        return STRANGE, _HASHES - 1, 0.0, float(_HASHES - 1), WHOLE, 0.0
    if attribute.type in ("bool", "any"):
        return 0, 1, 0.0, 1.0, WHOLE, 0.0
    least, most = _steps_inside(attribute, *domain(attribute))
    first = nan if attribute.min is None else float(value_of(attribute.type, least))
    last = nan if attribute.max is None else float(value_of(attribute.type, most))
    step = 0.0 if attribute.step is None else float(attribute.step)
    return least, most, first, last, REAL if attribute.type == "float" else WHOLE, step


def _steps_inside(attribute: Attribute, least: int, most: int) -> tuple[int, int]:
    """The keys of the least and the greatest whole step, where steps are declared.

    So an open end of a filter, moved inwards to a step, is an end of the domain.
    """
    if attribute.grid is None:
        return least, most
    ends = inwards(attribute, least, 1), inwards(attribute, most, -1)
    assert isinstance(ends[0], int)
    assert isinstance(ends[1], int)
    return ends[0], ends[1]

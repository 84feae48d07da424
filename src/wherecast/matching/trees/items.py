"""Items: what nodes hold, in stretches of one array, each with one side of a box to look at first.

An item is a number, of a filter or of a node, and the *probe*: one side of its box, so that most
candidates fail without a look at their rows. Stretches have 4, 8, 16, … items; free ones of each
size are a list, linked by `ITEM.NUMBER`. -1 ends every list.
"""

from typing import NamedTuple

from wherecast.matching.compile_cache.kernel_decorators import inner
from wherecast.matching.trees.row_layout import ENTRY, FLAG, SIDE

CLASSES = 32
FIRST_SIZE = 4  # items of the smallest stretch
NO_PROBE = -1
DECIDES = 1  # in `ITEM.PROBE`, beside twice the slot: the probe is all that the filter asks


class ItemWords(NamedTuple):
    """An item: its number, and the probe as twice the slot, a low and a high key."""

    NUMBER: int = 0
    PROBE: int = 1
    LOW: int = 2
    HIGH: int = 3


ITEM = ItemWords()

_FIRST, _NO_PROBE, _DECIDES = FIRST_SIZE, NO_PROBE, DECIDES


@inner
def is_full(kind, count):
    """Whether a stretch of a size has no room for one more; -1 is no stretch."""
    return kind < 0 or count == _FIRST << kind


@inner
def take_stretch(items, free, kind, used):
    """A stretch of a size, and how many items are used then."""
    start = free[kind]
    if start >= 0:
        free[kind] = items[start, ITEM.NUMBER]
        return start, used
    return used, used + (_FIRST << kind)


@inner
def give_stretch(items, free, kind, start):
    """Gives a stretch of a size back; -1 is none."""
    if kind >= 0:
        items[start, ITEM.NUMBER] = free[kind]
        free[kind] = start


@inner
def move_item(items, at, to):
    """Copies an item; returns its number."""
    number = items[at, ITEM.NUMBER]
    items[to, ITEM.NUMBER], items[to, ITEM.PROBE] = number, items[at, ITEM.PROBE]
    items[to, ITEM.LOW], items[to, ITEM.HIGH] = items[at, ITEM.LOW], items[at, ITEM.HIGH]
    return number


@inner
def write_item(items, at, number, rows, entry, place):
    """Writes an item, with a side of the box of an entry as its probe; -1 is none."""
    items[at, ITEM.NUMBER] = number
    items[at, ITEM.PROBE], items[at, ITEM.LOW], items[at, ITEM.HIGH] = _NO_PROBE, 0, 0
    if place >= 0:
        decides = _DECIDES if rows.e[entry, ENTRY.FLAGS] & FLAG.PLAIN else 0
        items[at, ITEM.PROBE] = 2 * rows.b[place, SIDE.SLOT] + decides
        items[at, ITEM.LOW], items[at, ITEM.HIGH] = (
            rows.b[place, SIDE.LOW],
            rows.b[place, SIDE.HIGH],
        )

"""Items: what nodes hold, in stretches of one array, each with one side of a box to look at first.

An item is a number, of a filter or of a node, and the *probe*: one side of its box, so that most
candidates fail without a look at their rows. Stretches have 4, 8, 16, … items; free ones of each
size are a list, linked by I_NUMBER. -1 ends every list.
"""

from wherecast.matching.compile_cache.kernel_decorators import inner
from wherecast.matching.trees.exact_kernels import B_HIGH, B_LOW, B_SLOT, E_FLAGS, PLAIN

CLASSES = 32
FIRST_SIZE = 4  # items of the smallest stretch
NO_PROBE = -1
DECIDES = 1  # in I_PROBE, beside twice the slot: the probe is all that the filter asks
I_NUMBER, I_PROBE, I_LOW, I_HIGH = range(4)
I_WORDS = 4

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
        free[kind] = items[start, I_NUMBER]
        return start, used
    return used, used + (_FIRST << kind)


@inner
def give_stretch(items, free, kind, start):
    """Gives a stretch of a size back; -1 is none."""
    if kind >= 0:
        items[start, I_NUMBER] = free[kind]
        free[kind] = start


@inner
def move_item(items, at, to):
    """Copies an item; returns its number."""
    number = items[at, I_NUMBER]
    items[to, I_NUMBER], items[to, I_PROBE] = number, items[at, I_PROBE]
    items[to, I_LOW], items[to, I_HIGH] = items[at, I_LOW], items[at, I_HIGH]
    return number


@inner
def write_item(items, at, number, rows, entry, place):
    """Writes an item, with a side of the box of an entry as its probe; -1 is none."""
    items[at, I_NUMBER] = number
    items[at, I_PROBE], items[at, I_LOW], items[at, I_HIGH] = _NO_PROBE, 0, 0
    if place >= 0:
        decides = _DECIDES if rows.e[entry, E_FLAGS] & PLAIN else 0
        items[at, I_PROBE] = 2 * rows.b[place, B_SLOT] + decides
        items[at, I_LOW], items[at, I_HIGH] = rows.b[place, B_LOW], rows.b[place, B_HIGH]

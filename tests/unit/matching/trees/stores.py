"""Stores of a few filters, and what they say, for tests."""

from wherecast import Schema
from wherecast.language import read_filters
from wherecast.matching.compile_cache.kernel_decorators import njit
from wherecast.matching.trees.filter_store import FilterStore
from wherecast.matching.trees.row_layout import ENTRY, SIDE

SCHEMA = Schema.from_dict(
    {
        "a": {"type": "float", "min": 0, "max": 100},
        "b": "int",
        "d": {"type": "float", "min": 0, "max": 10, "step": 0.5},
        "s": "string",
        "t": {"type": "string", "values": ["low", "mid", "high", "top"]},
        "lat": "float",
        "lon": "float",
    }
)


def store_of(*texts: str, circles: bool = True) -> FilterStore:
    store = FilterStore(circles)
    store.add(read_filters(list(texts), SCHEMA))
    return store


def box(store: FilterStore, entry: int = 0) -> dict[str, tuple[int, int]]:
    """The box of a filter, by the names of attributes."""
    start, size = int(store.rows.e[entry, ENTRY.BOX]), int(store.rows.e[entry, ENTRY.SIDES])
    sides = store.rows.b[start : start + size]
    assert sorted(sides[:, SIDE.SLOT]) == sides[:, SIDE.SLOT].tolist()
    names = [a.name for a in store.slots.attributes]
    return {names[side[SIDE.SLOT]]: (int(side[SIDE.LOW]), int(side[SIDE.HIGH])) for side in sides}


def flags(store: FilterStore, entry: int = 0) -> int:
    return int(store.rows.e[entry, ENTRY.FLAGS])


def outer(kernel):  # type: ignore[no-untyped-def]
    """A kernel that only kernels call, as something to call from here."""

    @njit()
    def called(*given):  # type: ignore[no-untyped-def]
        return kernel(*given)

    return called

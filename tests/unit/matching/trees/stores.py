"""Stores of a few filters, and what they say, for tests."""

from wherecast import Schema
from wherecast.language import read_filters
from wherecast.matching.compile_cache.kernel_decorators import njit
from wherecast.matching.trees.exact_kernels import B_HIGH, B_LOW, B_SLOT, E_BOX, E_FLAGS, E_SIDES
from wherecast.matching.trees.filter_store import FilterStore

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
    start, size = int(store.rows.e[entry, E_BOX]), int(store.rows.e[entry, E_SIDES])
    sides = store.rows.b[start : start + size]
    assert sorted(sides[:, B_SLOT]) == sides[:, B_SLOT].tolist()
    names = [a.name for a in store.slots.attributes]
    return {names[side[B_SLOT]]: (int(side[B_LOW]), int(side[B_HIGH])) for side in sides}


def flags(store: FilterStore, entry: int = 0) -> int:
    return int(store.rows.e[entry, E_FLAGS])


def outer(kernel):  # type: ignore[no-untyped-def]
    """A kernel that only kernels call, as something to call from here."""

    @njit()
    def called(*given):  # type: ignore[no-untyped-def]
        return kernel(*given)

    return called

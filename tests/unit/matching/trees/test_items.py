"""Stretches of items come back, and items keep what they say."""

import numpy as np
import pytest

from tests.unit.matching.trees.stores import outer, store_of
from wherecast.language.meaning.keys import float_key
from wherecast.matching.trees import items as module
from wherecast.matching.trees.items import CLASSES, DECIDES, ITEM, NO_PROBE
from wherecast.matching.trees.row_layout import ENTRY


@pytest.fixture
def items() -> np.ndarray:
    return np.zeros((64, len(ITEM)), np.int64)


def test_a_stretch_that_was_given_back_is_taken_again(items: np.ndarray) -> None:
    take, give = outer(module.take_stretch), outer(module.give_stretch)
    free = np.full(CLASSES, -1, np.int64)
    assert take(items, free, 0, 0) == (0, 4)
    assert take(items, free, 1, 4) == (4, 12)
    assert take(items, free, 0, 12) == (12, 16)
    give(items, free, 0, 0)
    give(items, free, 0, 12)
    give(items, free, -1, 0)
    assert [take(items, free, 0, 16)[0] for _ in range(3)] == [12, 0, 16]
    assert take(items, free, 1, 20) == (20, 28)


def test_a_stretch_is_full_at_its_size() -> None:
    is_full = outer(module.is_full)
    assert [bool(is_full(kind, count)) for kind, count in ((-1, 0), (0, 3), (0, 4), (1, 7))] == [
        True, False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "decides"), [("a > 10", DECIDES), ("a > 10 AND b = 5", 0)])
def test_an_item_has_a_side_of_a_box(items: np.ndarray, text: str, decides: int) -> None:
    store = store_of(text)
    place = int(store.rows.e[0, ENTRY.BOX])
    outer(module.write_item)(items, 5, 7, store.rows, 0, place)
    wanted = [7, decides, float_key(10.0) + 1, float_key(100.0)]
    assert items[5].tolist() == wanted
    assert outer(module.move_item)(items, 5, 6) == 7
    assert items[6].tolist() == wanted
    outer(module.write_item)(items, 5, 8, store.rows, 0, -1)
    assert items[5].tolist() == [8, NO_PROBE, 0, 0]

"""What the kernels say of covering is what filters say of it."""

from itertools import permutations

import pytest

from tests.unit.matching.trees.stores import SCHEMA, outer, store_of
from wherecast import Filter
from wherecast.matching.trees.forest.kernels.cover_search import (
    NONE,
    SURE,
    UNSURE,
    contains_box,
    covers,
    is_conjunction,
)

TEXTS = [
    "a > 10", "a >= 10 AND a <= 20", "a <> 15", "a <> 15 AND a > 10", "a <> 15 AND a <> 12",
    "a = 15", "a = 12 AND b = 3", "b <> 3", "b <> 3 AND a <> 15", "b > 3 AND a <> 15",
    "b IN (3, 5)", "b IN (4, 5)", "b NOT IN (3, 5)", "a <> 200", "s = 'x'", "s <> 'x'",
    "s <> 'y' AND a > 10", "t <> 'mid'", "t = 'mid'", "t <> 'nothing'", "t IN ('low', 'top')",
    "a IS NOT NULL", "TRUE", "b IS NULL", "a = 1 OR b = 2", "d <> 5", "d > 5", "d < 5 AND b <> 3",
    "s LIKE 'x%'", "b < a",
]  # fmt: skip


def test_it_is_decided_as_filters_decide_it() -> None:
    store, filters = store_of(*TEXTS), [Filter(text, SCHEMA) for text in TEXTS]
    inside, decided = outer(contains_box), outer(covers)
    seen = set()
    for one, other in permutations(range(len(TEXTS)), 2):
        covered = filters[one].covers(filters[other])
        if not inside(store.rows, one, other):
            assert not covered, (TEXTS[one], TEXTS[other])
            continue
        state = decided(store.rows, one, other)
        seen.add(state)
        if state != UNSURE:
            assert covered == (state == SURE), (TEXTS[one], TEXTS[other])
    assert seen == {NONE, SURE, UNSURE}


@pytest.mark.parametrize(
    ("outer_text", "inner_text", "state"),
    [
        ("a > 10", "a > 10 AND b < a", SURE),
        ("a <> 15", "a > 20 AND b < a", SURE),
        ("a <> 15", "a < 20", NONE),
        ("a <> 15", "a < 20 AND b < a", UNSURE),
        ("b NOT IN (3, 5)", "b = 4", UNSURE),
        ("a <> 15 AND b <> 3", "a < 20 AND b IN (1, 9)", UNSURE),
        ("a <> 15 AND b <> 3", "a < 20 AND b = 1", NONE),
    ],
)
def test_what_is_decided_without_the_caller(outer_text: str, inner_text: str, state: int) -> None:
    store = store_of(outer_text, inner_text)
    assert outer(covers)(store.rows, 0, 1) == state


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > 10 AND b <> 3", True),
        ("a IS NOT NULL", True),
        ("a = 1 OR b = 2", False),
        ("b IN (3, 5)", False),
        ("b IS NULL", False),
        ("TRUE", False),
    ],
)
def test_conjunctions(text: str, expected: bool) -> None:
    assert bool(is_conjunction(store_of(text).rows, 0)) is expected

"""Where the twin halves an interval."""

from math import inf, nan

import pytest

from tests.unit.matching.trees.betree.twin_nodes import Domain, Middle, halve
from wherecast.language.meaning.keys import float_key

WHOLE = Domain(0, 100, 0.0, 100.0)
REAL = Domain(float_key(0.0), float_key(10.0), 0.0, 10.0, real=True)
STEPPED = Domain(float_key(0.0), float_key(10.0), 0.0, 10.0, real=True, step=0.5)


@pytest.mark.parametrize(
    ("domain", "first", "last", "expected"),
    [
        (WHOLE, 0.0, 100.0, Middle(50.0, 51.0, 50)),
        (WHOLE, 0.0, 1.0, Middle(0.0, 1.0, 0)),
        (WHOLE, 0.0, 0.0, None),
        (WHOLE, 5.0, 3.0, None),
        (WHOLE, 0.0, 1e19, Middle(5e18, 5e18, 5 * 10**18 - 1)),
        (WHOLE, 9.1e18, 9.4e18, None),
        (REAL, 0.0, 10.0, Middle(5.0, 5.0, float_key(5.0))),
        (REAL, 1.0, 1.0000000000000002, None),
        (REAL, nan, 1.0, None),
        (REAL, -inf, 1.0, None),
        (STEPPED, 0.0, 10.0, Middle(5.0, 5.5, float_key(5.5) - 1)),
        (STEPPED, 2.0, 2.2, None),
    ],
)
def test_the_middle(domain: Domain, first: float, last: float, expected: Middle | None) -> None:
    assert halve(domain, first, last) == expected


def test_open_ends_have_no_number() -> None:
    assert WHOLE.number(0) is None
    assert WHOLE.number(100) is None
    assert WHOLE.number(7) == 7.0
    assert REAL.number(float_key(2.5)) == 2.5
    assert REAL.number(float_key(inf)) is None

"""The planner: matches stay exact whatever entries its signatures put together."""

import numpy as np
import numpy.typing as npt
import pytest

from tests.unit.matching.columnar.agree import assert_same
from wherecast import Schema
from wherecast.matching.columnar.packing import planner

Words = npt.NDArray[np.uint64]
WEAK = {
    "identity": lambda values: values,
    "constant": np.ones_like,
    "few bits": lambda values: values % np.uint64(3),
}
SCHEMA = Schema.from_dict({f"x{place}": "int" for place in range(30)})


def filters() -> list[str]:
    """Sets of attributes whose sums are equal, missing ones, checked ones, patterns of few sets."""
    texts = [f"x{a} > 2 AND x{b} < 5" for a in range(6) for b in range(6) if a != b]
    texts += [f"x{a} IS NULL AND x{b} < 5" for a in range(6) for b in range(6) if a != b]
    texts += [f"x{a} IN (1, 2, 3, 4, 6, 8) AND x{5 - a} <> 3" for a in range(3)]
    texts += [f"x{a} = 3 OR x{5 - a} = 4" for a in range(3)] + ["TRUE", "x0 IS NULL", "x3 = 3"]
    texts += [" AND ".join(f"x{p} >= {p % 3}" for p in range(start, 30)) for start in range(10, 28)]
    return texts


@pytest.mark.parametrize("weak", WEAK)
@pytest.mark.usefixtures("trees")
def test_signatures_that_collide(weak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "_mix", WEAK[weak])
    draw = np.random.default_rng(1)
    given = draw.integers(0, 9, (60, 30)).tolist()
    there = draw.random((60, 30)) < 0.7
    publications = [
        {f"x{place}": value for place, value in enumerate(row) if there[number, place]}
        for number, row in enumerate(given)
    ]
    assert_same(SCHEMA, filters(), publications)


def test_signatures_as_they_are(way: str) -> None:
    publications = [{f"x{place}": place % value for place in range(30)} for value in range(1, 9)]
    publications += [{n: v for n, v in row.items() if v != 1} for row in publications]
    assert assert_same(SCHEMA, filters(), publications)

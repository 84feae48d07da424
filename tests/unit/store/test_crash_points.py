import re
from pathlib import Path

import wherecast
from wherecast.store.crash_points import POINTS, UPGRADE_POINTS, reached


def test_nothing_happens_without_the_variable() -> None:
    for point in (*POINTS, *UPGRADE_POINTS):
        reached(point)


def test_every_point_is_listed_and_every_listed_one_is_there() -> None:
    source = Path(wherecast.__file__).parent
    found = {
        name
        for path in source.rglob("*.py")
        for name in re.findall(r'\breached\("([a-z_.]+)"\)', path.read_text())
    }
    assert found == {*POINTS, *UPGRADE_POINTS}

"""Changes that are damaged or missing are told, and the others are read."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.contract.stores import Body, Place, changes, embedded_place, publications
from wherecast.store.changes.projection import replay
from wherecast.store.position import Position

SIZES = (1, 3, 2, 1)  # of the entries
STARTS = (0, 1, 4, 6)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = embedded_place(tmp_path / "store")
    version = 0
    for size in SIZES:
        rows = [("subscribe", "d", f"n{version + row}", "s", "a > 1") for row in range(size)]
        place.log.change(changes(*rows), at=version)
        place.log.append(publications([Body(version)]), at=0)
        version += size
    place.close()
    return tmp_path / "store"


@pytest.fixture
def opened(path: Path) -> Iterator[list[Place]]:
    places: list[Place] = []
    yield places
    for place in places:
        place.close()


def after(path: Path, opened: list[Place], statement: str) -> Place:
    connection = apsw.Connection(str(path / "log.db"))
    connection.execute(statement)
    connection.close()
    opened.append(embedded_place(path))
    return opened[-1]


@pytest.mark.parametrize("version", STARTS)
@pytest.mark.parametrize(
    "field", ["count = count + 4", "count = -1", "acts_from = 7", "at = 99", "batch = x'00'"]
)
def test_only_its_entry_is_affected(
    path: Path, opened: list[Place], version: int, field: str
) -> None:
    place = after(path, opened, f"UPDATE changes SET {field} WHERE version = {version}")
    entries = list(place.log.changes(0, 100))
    assert [(entry.version, entry.count) for entry in entries] == [*zip(STARTS, SIZES, strict=True)]
    (bad,) = [entry for entry in entries if entry.damage]
    which = f"changes {version} to {bad.end - 1} are" if bad.count > 1 else f"change {version} is"
    assert bad.damage == f"{which} damaged: its checksum is wrong"
    assert (bad.version, bad.changes.num_rows, bad.acts_from) == (version, 0, Position())
    assert place.log.registry.counts()["subscribers"] == 7
    assert replay(place.log, 7).counts()["subscribers"] == 7 - bad.count
    assert place.log.change(changes(("subscriber", "", "ana")), at=0).version == 7


@pytest.mark.parametrize("version", STARTS)
def test_a_row_that_is_gone(path: Path, opened: list[Place], version: int) -> None:
    place = after(path, opened, f"DELETE FROM changes WHERE version = {version}")
    entries = list(place.log.changes(0, 100))
    assert [(entry.version, entry.count) for entry in entries] == [*zip(STARTS, SIZES, strict=True)]
    (bad,) = [entry for entry in entries if entry.damage]
    assert bad.version == version
    assert "missing" in str(bad.damage)
    (part,) = place.log.changes(bad.end - 1, bad.end)
    assert part.damage == f"change {bad.end - 1} is missing"


def test_all_rows_are_gone(path: Path, opened: list[Place]) -> None:
    (bad,) = after(path, opened, "DELETE FROM changes").log.changes(0, 100)
    assert (bad.version, bad.count, bad.damage) == (0, 7, "changes 0 to 6 are missing")

"""Cursors on disk: damage, reopening, and how often they are synced."""

from pathlib import Path

import apsw
import pytest

from tests.contract.places import embedded
from wherecast.store.records import Cursor

LIMIT_S = 60


def test_they_are_there_again(tmp_path: Path) -> None:
    cursors = {f"s{number}": Cursor(number, frozenset({number + 5})) for number in range(2500)}
    with embedded(tmp_path) as opened:
        opened.cursors.write(cursors)
    with embedded(tmp_path) as opened, embedded(tmp_path, "reader") as reader:
        assert dict(opened.cursors.all()) == cursors
        opened.cursors.write({"s1": Cursor(99)})
        assert reader.cursors.read("s1") == Cursor(99)


@pytest.mark.parametrize(
    "change", ["through = 9", "lost = 9", "beyond = x'00'", "checksum = 0", "subscriber = 'anb'"]
)
def test_a_damaged_one_has_acknowledged_nothing(
    tmp_path: Path, change: str, caplog: pytest.LogCaptureFixture
) -> None:
    with embedded(tmp_path) as opened:
        opened.cursors.write({"ana": Cursor(5), "bo": Cursor(6)})
    connection = apsw.Connection(str(tmp_path / "log.db"))
    connection.execute(f"UPDATE cursors SET {change} WHERE subscriber = 'ana'")
    connection.close()
    name = "anb" if "anb" in change else "ana"
    with embedded(tmp_path) as opened:
        assert opened.cursors.read(name) == Cursor()
        assert f"the cursor of '{name}' is damaged" in caplog.text
        assert dict(opened.cursors.all()) == {name: Cursor(), "bo": Cursor(6)}
        opened.cursors.write({name: Cursor(7)})
        assert opened.cursors.read(name) == Cursor(7)


def test_a_name_that_is_no_text_harms_no_other(tmp_path: Path) -> None:
    with embedded(tmp_path) as opened:
        opened.cursors.write({f"s{number:04}": Cursor(5) for number in range(1500)})
    connection = apsw.Connection(str(tmp_path / "log.db"))
    connection.execute(
        "UPDATE cursors SET subscriber = CAST(x'7330393939ff' AS TEXT) WHERE subscriber = 's0999'"
    )
    connection.close()
    with embedded(tmp_path) as opened:
        found = dict(opened.cursors.all())
        assert found.pop("s0999\ufffd") == Cursor()
        assert len(found) == 1499
        assert set(found.values()) == {Cursor(5)}

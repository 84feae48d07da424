"""`wherecast store check` and `wherecast store backup`."""

import json
from pathlib import Path

import apsw
import pytest

from tests.unit.store.embedded.filled import fill
from wherecast.cli.entry import run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path / "store")
    return tmp_path / "store"


def damage(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path / "batches.db"))
    connection.execute(statement)
    connection.close()


def test_a_good_one(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["store", "check", str(path)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == (
        f"{path}: 2 cursors, 3 batches, 3 segments, 1 dead letter, 15 publications, 3 changes"
    )
    assert second == "Everything is as it was written."


def test_a_damaged_one(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(path, "UPDATE segments SET data = x'00' WHERE first = 5")
    assert run(["store", "check", str(path)]) == 1
    _, second, third = capsys.readouterr().out.splitlines()
    assert second == "1 problem:"
    assert third == (
        "  segments: notifications of publications 5 to 9: the digest is wrong;"
        " they are made again from the log"
    )


def test_json(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(path, "DELETE FROM segments")
    assert run(["store", "check", "--json", str(path)]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["intact"] is False
    assert report["counts"]["publication"] == 15
    assert report["problems"] == [
        {
            "place": "segments",
            "problem": "notifications of publications 0 to 14: they are missing",
        }
    ]


def test_a_copy(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["store", "backup", str(path), str(tmp_path / "copy")]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'copy'}: 4 files, ")
    assert run(["store", "check", str(tmp_path / "copy")]) == 0
    capsys.readouterr()
    assert run(["store", "backup", "--json", str(path), str(tmp_path / "again")]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == []


def test_mistakes_are_told(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["store", "check", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"wherecast: {tmp_path} is no store\n"
    assert run(["store", "backup", str(path), str(path)]) == 2
    assert "which is to be copied" in capsys.readouterr().err

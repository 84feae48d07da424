"""`wherecast store check`, with and without `--repair`, and `wherecast store backup`."""

import json
from pathlib import Path

import apsw
import pytest

from tests.unit.broker.brokers import taken, values
from tests.unit.store.embedded.filled import fill
from wherecast.broker.broker import Broker
from wherecast.cli.entry import run
from wherecast.store.embedded.log.log_mark import write_mark
from wherecast.store.embedded.log.log_tables import Marks


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
        f"{path}: 3 batches, 3 segments, 1 dead letter, 2 cursors, 15 publications, 3 changes"
    )
    assert second == "Everything is as it was written."


def test_a_damaged_one(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(path, f"UPDATE segments SET data = x'00' WHERE first = {5 * 2**24}")
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


@pytest.fixture
def matched(tmp_path: Path) -> Path:
    """The directory of a broker, whose segments can be made again."""
    with Broker(data=tmp_path / "data") as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0", id="s1")
        for number in range(1, 6):
            broker.publisher("p").publish({"no2": float(number)})
            taken(ana, number)
    return tmp_path / "data"


def test_a_repair(matched: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(matched, "UPDATE segments SET data = x'00' WHERE first = 0")
    damage(matched, "DELETE FROM segments WHERE first = (SELECT max(first) FROM segments)")
    assert run(["store", "check", str(matched)]) == 1
    capsys.readouterr()
    assert run(["store", "check", "--repair", str(matched)]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert ", 1 cursor, " in first
    assert (len(lines), lines[0]) == (3, "2 problems repaired:")
    assert lines[1].startswith("  segments: notifications of publications 0 to ")
    assert lines[2].endswith(": they are missing")
    assert run(["store", "check", "--repair", str(matched)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["Everything is as it was written."]
    with Broker(data=matched) as broker:
        assert values(taken(broker.subscriber("ana"), 5)) == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_what_cannot_be_repaired(matched: Path, capsys: pytest.CaptureFixture[str]) -> None:
    connection = apsw.Connection(str(matched / "log.db"))
    connection.execute("UPDATE changes SET batch = x'00' WHERE version = 2")
    connection.close()
    assert run(["store", "check", "--repair", str(matched)]) == 1
    lines = capsys.readouterr().out.splitlines()[1:]
    assert lines[0] == "1 problem repaired:"
    assert lines[1].startswith("  log.db: the registry counts ")
    assert lines[2:4] == [
        "1 problem left:",
        "  log.db: change 2 is damaged: its checksum is wrong; what it made is not matched",
    ]
    assert run(["store", "check", "--repair", "--json", str(matched)]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["repaired"], len(report["problems"])) == ([], 1)


def test_a_damaged_log_is_left_and_a_backup_is_named(
    matched: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = bytearray((matched / "log.db").read_bytes())
    content[4096:8192] = bytes([0xAA]) * 4096
    (matched / "log.db").write_bytes(content)
    damage(matched, "UPDATE batches SET at = at + 1")
    assert run(["store", "check", "--repair", str(matched)]) == 1
    out = capsys.readouterr().out
    assert "repaired:" not in out
    assert "nothing rebuilds log.db: go back to a copy that wherecast store" in out
    assert (matched / "log.db").read_bytes() == bytes(content)
    assert not list(matched.glob("*.damaged*"))


def test_a_store_in_use_is_not_repaired(matched: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Broker(data=matched):
        assert run(["store", "check", "--repair", str(matched)]) == 2
    assert "is in use by process" in capsys.readouterr().err


def test_help_says_what_a_repair_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["store", "check", "--help"]) == 0
    assert "Rebuild what is derived from the log" in " ".join(capsys.readouterr().out.split())


def test_a_loss_is_told_and_accepted(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = Marks(0, 18, 3, 0, 0, 100)
    write_mark(path, known)
    assert run(["store", "check", str(path)]) == 1
    assert "missing: publications 15 to 17" in capsys.readouterr().out
    assert run(["store", "check", "--repair", str(path)]) == 1
    assert "--accept-loss" in capsys.readouterr().out
    assert run(["store", "check", "--accept-loss", str(path)]) == 2
    capsys.readouterr()
    assert run(["store", "check", "--repair", "--accept-loss", "--json", str(path)]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [one["problem"] for one in report["problems"]] == [
        "the entry of publications 15 to 17: it is missing"
    ]
    [note] = report["notes"]
    assert note["place"] == "log.db"
    assert "publications 15 to 17" in note["note"]
    assert run(["store", "check", str(path)]) == 1
    assert "\nNote: log.db: a loss was accepted at " in capsys.readouterr().out

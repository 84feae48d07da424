"""What was damaged before an upgrade stays what it was: named, mended or delivered again."""

import json
import struct
import zlib
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

import apsw
import pyarrow as pa
import pytest

from tests.upgrade.old_directory import EXPECTED, LAST_AT, broker_at, delivered, unpack
from wherecast.broker.publisher import Publisher
from wherecast.broker.subscriber import Subscriber
from wherecast.cli.entry import run
from wherecast.model import StoreError
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.embedded.upgrade.old_rows import SEGMENT


def change(file: Path, statement: str, *values: Any) -> None:
    """Changes rows of an old file."""
    with closing(apsw.Connection(str(file))) as connection:
        connection.execute(statement, values)
        assert connection.changes() >= 1


def problems(path: Path) -> list[str]:
    return [one.problem for one in check_store(path) if one.problem]


def test_a_damaged_entry_is_named_as_missing(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    change(path / "log.db", "UPDATE entries SET crc = crc + 1 WHERE first = 32")
    Directory(path).close()
    assert problems(path) == ["the entry of publication 32: it is missing"]
    with closing(EmbeddedStore(path)) as store:
        assert store.log.ends()[0] == 33


def test_damaged_ids_alone_cost_no_publication(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = unpack(tmp_path)
    change(path / "log.db", "UPDATE entries SET ids = zeroblob(length(ids)) WHERE first = 32")
    assert delivered(path) == EXPECTED
    assert "the ids of the publications from 32 on are damaged" in caplog.text


def test_a_damaged_change_is_restated_from_the_registry(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    last = "version = (SELECT max(version) FROM changes)"
    change(path / "log.db", f"UPDATE changes SET at = at + 1 WHERE {last}")
    assert delivered(path) == EXPECTED
    with closing(EmbeddedStore(path)) as store:
        assert store.registry.counts() == {"streams": 2, "subscribers": 6, "subscriptions": 18}
        assert store.log.damaged_changes() == 1


def test_a_damaged_cursor_becomes_none(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = unpack(tmp_path)
    change(path / "cursors.db", "UPDATE cursors SET through = through + 1 WHERE subscriber = 's3'")
    found = delivered(path)
    assert "the cursor of 's3' is damaged" in caplog.text
    count = len(EXPECTED["s3"])
    assert len(found["s3"]) > count
    assert found["s3"][-count:] == EXPECTED["s3"]
    assert found | {"s3": None} == EXPECTED | {"s3": None}


@pytest.mark.parametrize(
    "statement",
    ["UPDATE segments SET digest = zeroblob(16)", "DELETE FROM segments"],
)
def test_damaged_and_missing_segments_are_mended(tmp_path: Path, statement: str) -> None:
    path = unpack(tmp_path)
    change(path / "batches.db", f"{statement} WHERE first = (SELECT max(first) FROM segments)")
    assert delivered(path) == EXPECTED
    assert problems(path) == []


def test_a_file_of_a_segment_is_moved_or_mended(tmp_path: Path) -> None:
    for is_there in (True, False):
        path = unpack(tmp_path / str(is_there))
        (path / "segments").mkdir(exist_ok=True)
        make_file(path, is_there)
        assert delivered(path) == EXPECTED
        assert problems(path) == []
        assert len(list((path / "layout-1" / "segments").iterdir())) == is_there


def make_file(path: Path, is_there: bool) -> None:
    """Makes the largest segment a file, which may be lost."""
    with closing(apsw.Connection(str(path / "batches.db"))) as connection:
        row: Any = connection.execute(
            'SELECT first, "end", data FROM segments ORDER BY length(data) DESC LIMIT 1'
        ).fetchone()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, SEGMENT) as writer:
            writer.write_batch(pa.ipc.read_record_batch(pa.py_buffer(row[2]), SEGMENT))
        data = sink.getvalue()
        key = struct.pack("<qq", *row[:2])
        digest = blake2b(data, digest_size=16, key=key).digest()
        connection.execute(
            "UPDATE segments SET data = NULL, bytes = ?, digest = ? WHERE first = ?",
            (data.size, digest, row[0]),
        )
    if is_there:
        name = f"{row[0]:019d}-{row[1]:019d}-{digest.hex()}.arrow"
        (path / "segments" / name).write_bytes(data)


def test_a_damaged_batch_is_repaired_after_the_upgrade(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    last = "first = (SELECT max(first) FROM batches)"
    change(path / "batches.db", f"UPDATE batches SET at = at + 1 WHERE {last}")
    with pytest.raises(StoreError, match="store check --repair"):
        EmbeddedStore(path)
    assert run(["store", "check", "--repair", str(path)]) == 0
    assert delivered(path) == EXPECTED


def test_damaged_bounds_are_counted_anew(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    change(path / "log.db", "UPDATE marks SET end = end + 1")
    assert delivered(path) == EXPECTED
    assert problems(path) == []


@pytest.mark.parametrize("name", ["log.db", "batches.db", "cursors.db"])
def test_pages_that_cannot_be_read_refuse_the_upgrade(tmp_path: Path, name: str) -> None:
    path = unpack(tmp_path)
    for file in path.glob("*.db"):
        with closing(apsw.Connection(str(file))) as connection:
            connection.pragma("user_version")  # the log is open only after a reading
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    data = bytearray((path / name).read_bytes())
    data[4096:8192] = bytes([0xA5]) * 4096
    (path / name).write_bytes(data)
    before = {file.name: file.read_bytes() for file in path.glob("*.db")}
    with pytest.raises(StoreError, match=r"is damaged.*it was not upgraded: repair"):
        Directory(path)
    assert {file.name: file.read_bytes() for file in path.glob("*.db")} == before
    assert json.loads((path / "format").read_text())["version"] == 1
    assert not (path / "layout-1").exists()


def test_a_log_that_is_missing_refuses_the_upgrade(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    for file in path.glob("log.db*"):
        file.unlink()
    with pytest.raises(StoreError, match=r"log\.db is missing or empty; it was not upgraded"):
        Directory(path)


def test_a_directory_that_was_just_made(tmp_path: Path) -> None:
    (tmp_path / "format").write_text('{"version": 1, "identity": "me"}\n')
    with broker_at(tmp_path) as core:
        core.register("ana")
        Subscriber("ana", core).subscribe("n = 1")
        Publisher("p", core).publish({"n": 1})
        assert len(Subscriber("ana", core).take(1, timeout=20.0)) == 1
        assert core.store.log.identity == "me"
    assert not (tmp_path / "layout-1").exists()


def test_an_upgrade_whose_backup_is_gone(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    before = (path / "format").read_text()
    Directory(path).close()
    (path / "layout-1").rename(tmp_path / "elsewhere")
    (path / "format").write_text(before)
    with pytest.raises(StoreError, match="was cut short, and its backup"):
        Directory(path)


def test_times_that_went_back(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    with closing(apsw.Connection(str(path / "log.db"))) as connection:
        row: Any = connection.execute(
            """SELECT first, count, at, CAST(stream AS BLOB), ids, rows, attributes, envelopes
            FROM entries WHERE first = 32"""
        ).fetchone()
        first, count, _, stream, ids, rows, attributes, envelopes = row
        head = struct.pack("<qqq", first, count, LAST_AT - 10**9)
        crc = zlib.crc32(head)
        for part in (stream, rows, attributes):
            crc = zlib.crc32(struct.pack("<q", -1 if part is None else len(part)), crc)
            crc = zlib.crc32(part or b"", crc)
        sealed = [
            data[:-4] + struct.pack("<I", zlib.crc32(data[:-4], zlib.crc32(head)))
            for data in (ids, envelopes)
        ]
        connection.execute(
            "UPDATE entries SET at = ?, crc = ?, ids = ?, envelopes = ? WHERE first = 32",
            (LAST_AT - 10**9, crc, *sealed),
        )
    with closing(EmbeddedStore(path)) as store:
        entries = list(store.log.read(0, 0, 33))
        times = [entry.accepted_at for entry in entries]
        assert [entry.damage for entry in entries] == [None] * len(entries)
        assert times == sorted(times)
        assert times[-1] > LAST_AT - 10**9
    assert problems(path) == []

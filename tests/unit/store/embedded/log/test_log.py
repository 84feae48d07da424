"""What only the embedded log has: damage, a full disk, shared transactions, other processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from tests.contract.stores import Body, Place, bodies_in, changes, embedded_place, publications
from tests.unit.store.embedded.filled import fill
from tests.unit.store.embedded.test_database import SmallDisk
from wherecast.model.errors import StoreError
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log import log as embedded_log
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.embedded.log.log_tables import Marks
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.ids.publication_ids import generated_id
from wherecast.store.ids.recent_ids import IdWindow
from wherecast.store.position import Position
from wherecast.store.records import Entry

ROOT = Path(__file__).parents[4]
LIMIT_S = 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def place(path: Path) -> Iterator[Place]:
    place = embedded_place(path)
    yield place
    place.close()


def append(place: Place, *bodies: Body, at: int = 0) -> list[int]:
    return place.log.append(publications(bodies), at).offsets.tolist()


class TestDamage:
    """A bit is flipped in the file, while nobody has it open."""

    def filled(self, path: Path) -> None:
        place = embedded_place(path)
        for number in range(5):
            append(place, *(Body(number, f"id-{number}-{row}", b"payload") for row in range(3)))
        place.log.change(changes(("subscribe", "air", "ana", "s1", "a filter")), at=0)
        place.close()

    def damaged(self, path: Path, change: Callable[[apsw.Connection], object]) -> Place:
        self.filled(path)
        connection = apsw.Connection(str(path / "log.db"))
        change(connection)
        connection.close()
        return embedded_place(path)

    @pytest.mark.parametrize(
        "field",
        [
            "count = count + 4",
            "count = -1",
            "at = at + 1024",
            "kind = 1",
            "encoding = 1",
            "schema_version = 1",
            "source = 'hub'",
            "headers = NULL",
            "payloads = NULL",
            "crc = crc + 1",
            "stream = 'defaulu'",
            "rows = x'00000000'",
            "attributes = CAST(x'00' || substr(attributes, 2) AS BLOB)",
            "attributes = substr(attributes, 2)",
            "attributes = x''",
        ],
    )
    def test_only_its_entry_is_affected(self, path: Path, field: str) -> None:
        place = self.damaged(path, lambda c: c.execute(f"UPDATE entries SET {field} WHERE first=6"))
        entries = list(place.log.read(0, 0, 100, headers=True))
        assert [(e.first, e.count) for e in entries] == [(n, 3) for n in range(0, 15, 3)]
        assert [e.first for e in entries if e.damage] == [6]
        assert_told(entries[2], "the entry of publications 6 to 8: its checksum is wrong")
        assert append(place, Body(99)) == [15]
        place.close()

    def test_a_bit_in_the_file(self, path: Path) -> None:
        self.filled(path)
        content = bytearray((path / "log.db").read_bytes())
        content[content.index(b"[2, 2, 2]") + 1] ^= 1
        (path / "log.db").write_bytes(content)
        place = embedded_place(path)
        entries = list(place.log.read(0, 0, 100))
        assert [e.first for e in entries if e.damage] == [6]
        place.close()

    def test_the_last_entry(self, path: Path) -> None:
        place = self.damaged(
            path, lambda c: c.execute("UPDATE entries SET count = 1000 WHERE first = 12")
        )
        assert place.log.ends() == Position({0: 15})
        *_, entry = place.log.read(0, 0, 100)
        assert_told(entry, "the entry of publications 12 to 14: its checksum is wrong")
        place.close()

    @pytest.mark.parametrize("first", [0, 6, 12])
    def test_a_row_that_is_gone(self, path: Path, first: int) -> None:
        place = self.damaged(
            path, lambda c: c.execute("DELETE FROM entries WHERE first=?", (first,))
        )
        entries = list(place.log.read(0, 0, 100))
        assert [(e.first, e.count) for e in entries] == [(n, 3) for n in range(0, 15, 3)]
        assert [e.first for e in entries if e.damage] == [first]
        (entry,) = place.log.read(0, first + 1, first + 2)
        assert_told(entry, f"the entry of publication {first + 1}: it is missing")
        place.close()

    def test_all_rows_are_gone(self, path: Path) -> None:
        place = self.damaged(path, lambda c: c.execute("DELETE FROM entries"))
        (entry,) = place.log.read(0, 0, 100)
        assert (entry.first, entry.count) == (0, 15)
        assert entry.damage
        assert append(place, Body(99)) == [15]
        place.close()

    @pytest.mark.parametrize("part", ["headers", "payloads"])
    def test_headers_and_payloads_are_checked_where_they_are_read(
        self, path: Path, part: str
    ) -> None:
        place = self.damaged(
            path,
            lambda c: c.execute(
                f"UPDATE entries SET {part} = CAST('x' || substr({part}, 2) AS BLOB) "
                "WHERE first = 6"
            ),
        )

        def damaged(headers: bool, payloads: bool) -> list[int]:
            read = place.log.read(0, 0, 100, headers, payloads)
            return [entry.first for entry in read if entry.damage]

        assert damaged(False, False) == damaged(part != "headers", part != "payloads") == []
        assert damaged(part == "headers", part == "payloads") == [6]
        place.close()

    def test_ids_that_cannot_be_read_are_new(self, path: Path) -> None:
        place = self.damaged(
            path, lambda c: c.execute("UPDATE entries SET ids = zeroblob(52) WHERE first = 6")
        )
        assert append(place, Body(2, "id-2-0"), Body(3, "id-3-0", b"payload")) == [15, -1]
        assert append(place, Body(1, generated_id(place.log.identity, 0, 6))) == [16]
        place.close()

    def test_marks_are_counted_anew(self, path: Path) -> None:
        place = self.damaged(path, lambda c: c.execute("UPDATE marks SET end = 3, bytes = 1"))
        assert place.log.ends() == Position({0: 15})
        assert place.log.changes_end() == 1
        assert place.log.bytes() > 15 * len(b"payload")
        assert append(place, Body(99)) == [15]
        assert len(list(bodies_in(place.log, 0))) == 16
        place.close()

    @pytest.mark.parametrize("is_emptied", [False, True])
    def test_a_lost_log_is_not_begun_anew(self, path: Path, is_emptied: bool) -> None:
        EmbeddedStore(path).close()
        (path / "log.db").unlink()
        if is_emptied:
            (path / "log.db").touch()
        with pytest.raises(StoreError, match=f"run: wherecast store check {path}"):
            EmbeddedStore(path)

    @pytest.mark.parametrize("keeps_ids", [False, True])
    @pytest.mark.parametrize("change", ["UPDATE marks SET bytes = 1", "DELETE FROM marks"])
    def test_no_offset_is_given_out_again_after_all_was_trimmed(
        self, path: Path, change: str, keeps_ids: bool
    ) -> None:
        fill(path)
        store = EmbeddedStore(path)
        store.log.trim(store.log.ends())
        store.close()
        connection = apsw.Connection(str(path / "log.db"))
        if not keeps_ids:
            connection.execute("DELETE FROM trimmed_ids")
        connection.execute(change)
        connection.close()
        for offset in (15, 16):
            store = EmbeddedStore(path)
            assert store.log.ends() == Position({0: offset})
            assert store.log.starts() == Position({0: 15})
            assert store.log.append(publications([Body(99)]), 0).offsets.tolist() == [offset]
            store.close()

    def test_ids_that_are_kept_tell_the_end(self, path: Path) -> None:
        self.filled(path)
        place = embedded_place(path)
        place.log.trim(Position({0: 15}))
        place.close()
        connection = apsw.Connection(str(path / "log.db"))
        connection.execute("UPDATE changes SET acts_from = 0")
        connection.execute("UPDATE marks SET bytes = 1")
        connection.close()
        place = embedded_place(path)
        assert place.log.ends() == Position({0: 15})
        place.close()

    def test_a_log_that_is_older_than_the_batches_is_refused(
        self, path: Path, tmp_path: Path
    ) -> None:
        fill(path)
        fill(tmp_path / "shorter", batches=1)
        os.replace(tmp_path / "shorter" / "log.db", path / "log.db")
        match = (
            "publication 5, .* log.mark knows of publication 15, .* missing: publications 5 to 14"
        )
        for _ in range(2):
            with pytest.raises(StoreError, match=f"{match}.* --repair --accept-loss {path}"):
                EmbeddedStore(path)
        (path / "log.mark").unlink()
        match = match.replace("log.mark", "batches.db")
        with pytest.raises(StoreError, match=f"{match}.* --repair --accept-loss {path}"):
            EmbeddedStore(path)

    def test_pages_of_sqlite(self, path: Path) -> None:
        self.filled(path)
        content = bytearray((path / "log.db").read_bytes())
        content[4096:4200] = bytes(104)
        (path / "log.db").write_bytes(content)
        with pytest.raises(StoreError, match=r"log\.db is damaged.*wherecast store backup made$"):
            embedded_place(path)


def assert_told(entry: Entry, damage: str) -> None:
    assert entry.damage == damage
    assert (entry.stream, entry.attributes, entry.rows) == ("", b"", None)


@pytest.mark.parametrize("window", [IdWindow(publications=10), IdWindow(age_us=10)])
def test_trimmed_ids_are_kept_for_the_window_alone(path: Path, window: IdWindow) -> None:
    place = embedded_place(path, window)
    for number in range(50):
        append(place, Body(number, f"{number}"), at=number)
        place.log.trim(place.log.ends())
    place.close()
    kept = apsw.Connection(str(path / "log.db")).execute("SELECT count(*) FROM trimmed_ids").get
    assert kept == 10


def test_a_full_disk_heals_by_itself(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_log, "LAYOUT", replace(embedded_log.LAYOUT, grown_pages=0))
    disk = SmallDisk()
    place = embedded_place(path, vfs=disk.name)
    append(place, Body(1, "a"))
    disk.left = 0
    for _ in range(2):
        with pytest.raises(StoreError, match="disk full"):
            append(place, Body(2, "b"))
        with pytest.raises(StoreError, match="disk full"):
            place.log.change(changes(("subscriber", "", "ana")), at=0)
    assert place.log.ends() == Position({0: 1})
    disk.left = 10**9
    assert append(place, Body(1, "a"), Body(2, "b")) == [-1, 1]
    assert append(place, Body(2, "b")) == [-1]
    assert place.log.change(changes(("subscriber", "", "ana")), at=0).version == 0
    place.close()
    disk.unregister()


class TestProcesses:
    def test_others_read_while_the_owner_appends(self, path: Path, place: Place) -> None:
        beside = EmbeddedLog(Directory(path, "pipeline"))
        append(place, Body(1), Body(2))
        assert beside.ends() == Position({0: 2})
        place.log.change(changes(("subscriber", "", "ana")), at=0)
        append(place, Body(3))
        assert [body.number for body in bodies_in(beside, 0)] == [1, 2, 3]
        assert beside.registry.subscribers() == ["ana"]
        assert beside.identity == place.log.identity
        with pytest.raises(StoreError, match="is not open for writing"):
            beside.append(publications([Body(4)]), at=0)
        beside.close()

    @pytest.mark.parametrize("acknowledged", [1, 20, 57])
    def test_kill_9_leaves_what_was_acknowledged(self, path: Path, acknowledged: int) -> None:
        search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        with subprocess.Popen(
            [sys.executable, "-m", "tests.unit.store.embedded.appending", str(path)],
            env={**os.environ, "PYTHONPATH": search},
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(acknowledged)]
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()
        told = [tuple(map(int, line.split())) for line in lines if line.endswith("\n")]
        assert len(told) >= acknowledged
        beside = EmbeddedLog(Directory(path, "reader"))
        assert beside.ends()[0] > max(offset for offset, _ in told)
        assert list(bodies_in(beside, 0))
        beside.close()
        place = embedded_place(path)
        entries = list(place.log.read(0, 0, 10**9))
        assert all(entry.damage is None and entry.count == 3 for entry in entries)
        bodies = list(bodies_in(place.log, 0))
        assert len({body.id for body in bodies}) == len(bodies)
        for offset, number in told:
            assert [body.number for body in bodies[offset : offset + 3]] == [number] * 3
        assert append(place, Body(told[0][1], f"{told[0][1]}-0")) == [-1]
        place.close()


class TestKnownMarks:
    """The owner reads where its log begins and ends only after a transaction."""

    def test_what_was_undone_is_not_known(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        append(place, Body(1))
        append(place, Body(2))
        assert place.log.ends() == Position({0: 2})
        with monkeypatch.context() as patched:
            patched.setattr(
                Marks, "write", lambda *_: (_ for _ in ()).throw(apsw.FullError("full"))
            )
            with pytest.raises(StoreError, match="disk full"):
                append(place, Body(3))
        assert place.log.ends() == Position({0: 2})
        place.log.trim(Position({0: 1}))  # as many transactions as if that had been committed
        assert (place.log.starts(), place.log.ends()) == (Position({0: 1}), Position({0: 2}))
        assert append(place, Body(4)) == [2]
        assert place.log.ends() == Position({0: 3})

    def test_another_process_sees_what_is_new(self, path: Path, place: Place) -> None:
        reader = EmbeddedLog(Directory(path, "reader"))
        for number in range(3):
            assert reader.ends() == Position({0: number})
            append(place, Body(number))
        reader.close()


def test_a_log_that_has_given_out_all_offsets_says_so(path: Path) -> None:
    place = embedded_place(path)
    log = place.log
    assert isinstance(log, EmbeddedLog)
    with log.database.transaction() as connection:
        Marks(start=2**39 - 2, end=2**39 - 2).write(connection)
    with pytest.raises(StoreError, match="has given out all its offsets"):
        append(place, Body(1), Body(2), Body(3))
    assert append(place, Body(1), Body(2)) == [2**39 - 2, 2**39 - 1]
    with pytest.raises(StoreError, match="has given out all its offsets"):
        append(place, Body(3))
    assert log.ends()[0] == 2**39
    place.close()

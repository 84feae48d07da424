"""Derived data is rebuilt from the log, and what was not acknowledged is delivered then."""

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

import apsw
import pytest

from tests.contract.feed import GAP
from tests.unit.broker.brokers import opener, taken, values
from tests.unit.store.embedded.filled import fill
from wherecast.broker.broker import Broker
from wherecast.model import ConfigError, StoreError
from wherecast.store.contracts import Role
from wherecast.store.maintenance import check_store, repair_store
from wherecast.store.open_store import open_store
from wherecast.store.position import Position
from wherecast.store.records import Cursor

COUNT, ACKNOWLEDGED = 6, 2


def execute(path: Path, statement: str, is_checkpointed: bool = True) -> None:
    connection = apsw.Connection(str(path))
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(not is_checkpointed))
    connection.execute(statement)
    connection.close()


def problems(path: Path) -> list[str]:
    return [f"{one.place}: {one.problem}" for one in check_store(path) if one.problem]


def repaired(path: Path) -> bool:
    return repair_store(path, {one.place for one in check_store(path) if one.problem})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The directory of a broker whose subscriber acknowledged some of its notifications."""
    with opener("durable", tmp_path)() as broker:
        ana = broker.subscriber("ana")
        ana.subscribe("no2 > 0", id="s1")
        for number in range(1, COUNT + 1):
            broker.publisher("p").publish({"no2": float(number)})
        for notification in taken(ana, ACKNOWLEDGED):
            ana.ack(notification)
        taken(ana, COUNT - ACKNOWLEDGED)
    return next(found.parent for found in tmp_path.rglob("batches.db"))


def assert_served(path: Path) -> None:
    """A broker delivers what was not acknowledged, and what is published now."""
    with Broker(data=path) as broker:
        broker.publisher("p").publish({"no2": 9.0})
        found = values(taken(broker.subscriber("ana"), COUNT - ACKNOWLEDGED + 1))
    assert found == [*map(float, range(ACKNOWLEDGED + 1, COUNT + 1)), 9.0]


def trim(path: Path, before: int) -> None:
    store = open_store(path)
    store.mailboxes.trim(before * GAP)
    store.log.trim(Position({0: before}))
    store.close()


def overwrite(path: Path) -> None:
    path.write_bytes(b"nonsense" * 1000)


@pytest.mark.parametrize(
    "harm",
    [
        lambda file: execute(file, "UPDATE state SET starts_at = 3"),
        lambda file: execute(file, "UPDATE batches SET at = at + 1"),
        lambda file: execute(file, "DELETE FROM batches WHERE first = 0"),
        overwrite,
        Path.unlink,
    ],
)
@pytest.mark.parametrize("is_trimmed", [False, True])
def test_the_records_of_batches_are_rebuilt(
    path: Path, harm: Callable[[Path], None], is_trimmed: bool
) -> None:
    if is_trimmed:
        trim(path, ACKNOWLEDGED)
    harm(path / "batches.db")
    repaired(path)
    assert problems(path) == []
    assert_served(path)
    assert problems(path) == []


def empty(file: Path) -> None:
    """Leaves an empty `batches.db`, as a new store has."""
    file.unlink()
    with suppress(StoreError):
        open_store(file.parent).close()


def test_records_that_end_before_the_segments_are_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / "store"
    fill(path)
    execute(path / "batches.db", "DELETE FROM batches")
    assert problems(path) == ["batches.db: its records end at 0, but its segments at 15"]
    assert repaired(path)
    assert problems(path) == []


@pytest.mark.parametrize("harm", [Path.unlink, empty, partial(os.truncate, length=0)])
@pytest.mark.parametrize("role", ["owner", "pipeline"])
def test_batches_that_end_before_the_log_are_refused_and_rebuilt(
    path: Path, harm: Callable[[Path], None], role: Role
) -> None:
    trim(path, ACKNOWLEDGED)
    harm(path / "batches.db")
    assert any(line.startswith("batches.db: ") for line in problems(path))
    with pytest.raises(StoreError, match=rf"run: wherecast store check --repair {path}$"):
        open_store(path, role)
    told = f"batches.db: its records end at 0, but the log begins at {ACKNOWLEDGED}"
    assert problems(path) == [told]
    assert repaired(path)
    assert problems(path) == []
    open_store(path, role).close()
    assert_served(path)


class Killed(BaseException):
    """The end of the process."""


def is_killed_at(step: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Repairs a store; a change of a name in its folder ends that. False if it was never made."""
    steps = count()

    def stepping(change: Callable[..., None]) -> Callable[..., None]:
        def change_or_end(*names: object, **options: object) -> None:
            if next(steps) == step:
                raise Killed
            change(*names, **options)

        return change_or_end

    with monkeypatch.context() as patched:
        for name in ("link", "unlink", "rename", "replace"):
            patched.setattr(os, name, stepping(getattr(os, name)))
        try:
            repaired(path)
        except Killed:
            return True
    return False


@pytest.mark.parametrize("is_crashed", [False, True])
@pytest.mark.parametrize("has_links", [False, True])
def test_a_repair_that_is_killed_loses_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_crashed: bool, has_links: bool
) -> None:
    trim(path, ACKNOWLEDGED)
    if is_crashed:  # some of it is in the write-ahead log alone
        store = open_store(path)
        store.batches.begin()
        path = Path(shutil.copytree(path, tmp_path / "crashed"))
        store.close()
    execute(path / "batches.db", "UPDATE batches SET at = at + 1", is_checkpointed=False)
    assert (path / "batches.db-wal").exists()
    if not has_links:
        monkeypatch.setattr(os, "link", refuse_links)
    for step in count():
        killed = Path(shutil.copytree(path, tmp_path / f"killed-{step}"))
        is_killed = is_killed_at(step, killed, monkeypatch)
        assert (killed / "batches.db").stat().st_size > 0
        repaired_again = Path(shutil.copytree(killed, tmp_path / f"again-{step}"))
        if refusal := refusal_of(killed):
            assert refusal.endswith(f"run: wherecast store check --repair {killed}")
            assert any(line.startswith("batches.db: ") for line in problems(killed))
        else:
            assert_served(killed)
        assert repaired(repaired_again)
        assert problems(repaired_again) == []
        assert_served(repaired_again)
        if not is_killed:
            break
    assert step > 3


def refusal_of(path: Path) -> str:
    """The error of a start; empty if the store opens."""
    try:
        open_store(path).close()
    except StoreError as error:
        return str(error)
    return ""


def refuse_links(*_: object) -> None:
    raise PermissionError(errno.EPERM, "no links here")


def test_a_second_repair_leaves_what_the_first_has_set_aside(path: Path) -> None:
    contents = []
    for _ in range(3):
        execute(path / "batches.db", "UPDATE state SET epoch = epoch + 1")
        contents.append((path / "batches.db").read_bytes())
        assert repaired(path)
    names = ["batches.db.damaged", "batches.db.damaged.2", "batches.db.damaged.3"]
    found = {file.name.removesuffix("-wal").removesuffix("-shm") for file in path.glob("*.dam*")}
    assert sorted(found) == names
    assert [(path / name).read_bytes() for name in names] == contents


@pytest.mark.parametrize(
    ("cursor", "end"),
    [
        (Cursor(100 * GAP), 100),
        (Cursor(99 * GAP + 1), 100),
        (Cursor(4 * GAP, frozenset({121 * GAP - 1})), 121),
        (Cursor(), COUNT),
    ],
)
def test_the_log_never_ends_before_what_was_acknowledged_or_matched(
    path: Path, cursor: Cursor, end: int
) -> None:
    trim(path, COUNT)
    store = open_store(path)
    store.cursors.write({"ana": cursor})
    store.close()
    execute(path / "log.db", "UPDATE marks SET crc = crc + 1")
    execute(path / "batches.db", "UPDATE batches SET changes = changes + 1")
    assert repaired(path)
    store = open_store(path)
    assert (store.log.starts()[0], store.log.ends()[0]) == (end, end)
    store.close()
    with Broker(data=path) as broker:
        broker.publisher("p").publish({"no2": 9.0})
        assert values(taken(broker.subscriber("ana"), 1)) == [9.0]
    assert problems(path) == []


def test_a_refused_start_names_the_command_that_repairs(path: Path) -> None:
    execute(path / "batches.db", "UPDATE batches SET changes = changes + 1")
    with pytest.raises(StoreError, match=rf"run: wherecast store check --repair {path}$"):
        open_store(path)
    assert repaired(path)
    open_store(path).close()
    assert (path / "batches.db.damaged").exists()


def test_a_pipeline_of_the_damaged_file_cannot_commit(path: Path) -> None:
    store = open_store(path)
    epoch = store.batches.begin()
    store.close()
    overwrite(path / "batches.db")
    assert repaired(path)
    store = open_store(path)
    assert store.batches.begin() > epoch + 1
    store.close()


def test_a_registry_of_any_length_is_rebuilt(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wherecast.store.embedded.log.log.CHANGES_MAX", 0)
    execute(path / "log.db", "DELETE FROM subscriptions")
    open_store(path).close()
    assert [line[:30] for line in problems(path)] == ["log.db: the registry counts {'"]
    assert repaired(path)
    assert problems(path) == []
    assert_served(path)


def test_marks_are_rebuilt(path: Path) -> None:
    execute(path / "log.db", "DELETE FROM marks")
    assert repaired(path)
    assert problems(path) == []


def test_what_nothing_else_tells_is_left(path: Path) -> None:
    name = "log.db"
    overwrite(path / name)
    content = (path / name).read_bytes()
    assert not repaired(path)
    assert (path / name).read_bytes() == content
    assert any(line.startswith(f"{name}: ") for line in problems(path))


def pages(path: Path, table: str) -> list[int]:
    """The numbers of the leaf pages of a table."""
    connection = apsw.Connection(str(path))
    statement = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'"
    found = [int(page) for (page,) in connection.execute(statement, (table,))]
    connection.close()
    return found


def spoil_page(path: Path, page: int) -> None:
    content = bytearray(path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = bytes([0xAA]) * 4096
    path.write_bytes(content)


@pytest.mark.parametrize(
    "table", ["entries", "changes", "marks", "streams", "subscribers", "subscriptions"]
)
def test_a_page_of_the_log_is_left_and_names_a_backup(path: Path, table: str) -> None:
    spoil_page(path / "log.db", pages(path / "log.db", table)[0])
    execute(path / "batches.db", "UPDATE batches SET at = at + 1")
    contents = {name: (path / name).read_bytes() for name in ("log.db", "batches.db")}
    with pytest.raises(StoreError, match=r"log\.db is damaged: .* wherecast store backup made$"):
        open_store(path)
    assert not repaired(path)
    assert {name: (path / name).read_bytes() for name in contents} == contents
    assert not list(path.glob("*.damaged*"))
    assert not list(path.glob("*.new*"))
    advice = "nothing rebuilds log.db: go back to a copy that wherecast store backup made"
    assert any(line.startswith("log.db: ") and advice in line for line in problems(path))


def test_the_first_page_of_the_log_is_left(path: Path) -> None:
    content = bytearray((path / "log.db").read_bytes())
    content[100:4096] = bytes(3996)
    (path / "log.db").write_bytes(content)
    assert not repaired(path)
    assert (path / "log.db").read_bytes() == bytes(content)


def test_a_log_of_a_newer_version_is_left(path: Path) -> None:
    connection = apsw.Connection(str(path / "log.db"))
    connection.pragma("user_version", 99)
    connection.close()
    assert not repaired(path)
    assert not (path / "log.db.damaged").exists()


def test_a_good_store_stays_as_it_is(path: Path) -> None:
    assert repaired(path)
    assert not (path / "batches.db.damaged").exists()
    assert_served(path)


def test_a_store_in_use_is_refused(path: Path) -> None:
    store = open_store(path)
    with pytest.raises(StoreError, match="is in use by"):
        repair_store(path, {"batches.db"})
    store.close()
    assert problems(path) == []


@pytest.mark.parametrize("role", ["pipeline", "reader"])
def test_a_store_that_a_pipeline_has_open_is_refused(path: Path, role: Role) -> None:
    store = open_store(path, role)
    with pytest.raises(StoreError, match=r"log\.db is in use by another process"):
        repair_store(path, {"batches.db"})
    store.close()
    assert not list(path.glob("*.damaged"))
    assert repair_store(path, {"batches.db"})


def test_what_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="is no store"):
        repair_store(tmp_path / "empty", set())
    assert not list((tmp_path / "empty").iterdir())

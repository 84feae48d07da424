"""A copy of a store that is in use is a store."""

from pathlib import Path

import pytest

from tests.contract.feed import GAP, SUBSCRIBERS, Feed, commit_all, pull, whole
from tests.contract.places import embedded
from tests.contract.stores import bodies_in
from tests.unit.store.embedded.filled import EACH, add_batch, fill
from wherecast.model import ConfigError
from wherecast.store.embedded.backup import backup_store
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.cursors import EmbeddedCursors
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.records import Cursor
from wherecast.store.segments.merging import FAN_IN
from wherecast.store.segments.segment_settings import SegmentSettings

FILES = SegmentSettings(row_bytes_max=1, dropped_kept_s=0)


def problems(path: Path) -> list[str]:
    return [one.problem for one in check_store(path) if one.problem]


def test_a_copy_is_the_same_store(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    list(backup_store(tmp_path / "store", tmp_path / "copies" / "one"))
    assert problems(tmp_path / "copies" / "one") == []
    one, two = EmbeddedStore(tmp_path / "store"), EmbeddedStore(tmp_path / "copies" / "one")
    assert list(bodies_in(one.log, 0)) == list(bodies_in(two.log, 0))
    assert one.log.identity == two.log.identity
    assert dict(one.cursors.all()) == dict(two.cursors.all())
    assert one.batches.progress() == two.batches.progress()
    for name in SUBSCRIBERS:
        assert list(pull(one.mailboxes, name)) == list(pull(two.mailboxes, name))
    add_batch(two, two.batches.begin())
    one.close()
    two.close()


def test_what_is_written_meanwhile_never_refers_beyond(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    store = EmbeddedStore(tmp_path / "store")
    epoch = store.batches.begin()
    for _ in backup_store(tmp_path / "store", tmp_path / "copy"):
        add_batch(store, epoch)
        store.cursors.write({"ana": Cursor(store.batches.progress().sequence)})
        store.mailboxes.merge()
        store.mailboxes.trim(EACH * GAP)
        store.log.trim(store.batches.progress().position)
    assert problems(tmp_path / "copy") == []
    assert problems(tmp_path / "store") == []
    directory = Directory(tmp_path / "copy")
    log = EmbeddedLog(directory)
    assert len(list(bodies_in(log, 0))) == 3 * EACH
    assert EmbeddedCursors(log).read("ana") == Cursor(EACH * GAP, frozenset({(EACH + 3) * GAP - 1}))
    log.close()
    directory.close()
    store.close()


def test_files_that_are_merged_meanwhile_are_in_the_copy(tmp_path: Path) -> None:
    fill(tmp_path / "store", batches=0)
    feed = Feed(1)
    with embedded(tmp_path / "store", settings=FILES) as opened:
        commit_all(opened.batches, feed, [3] * FAN_IN, opened.batches.begin())
        copying = backup_store(tmp_path / "store", tmp_path / "copy")
        next(copying)
        assert opened.mailboxes.merge()
        opened.mailboxes.merge()  # deletes the old files
        assert len(list((tmp_path / "store" / "segments").iterdir())) == 1
        assert sum(one.name.endswith(".arrow") for one in copying) == FAN_IN
    with embedded(tmp_path / "copy", settings=FILES) as opened:
        assert {name: list(pull(opened.mailboxes, name)) for name in SUBSCRIBERS} == whole(feed)


def test_a_missing_segment_is_told(tmp_path: Path) -> None:
    fill(tmp_path / "store", batches=0)
    with embedded(tmp_path / "store", settings=FILES) as opened:
        commit_all(opened.batches, Feed(1), [3, 3], opened.batches.begin())
    gone = sorted((tmp_path / "store" / "segments").iterdir())[0]
    gone.unlink()
    copied = list(backup_store(tmp_path / "store", tmp_path / "copy"))
    assert [one.name for one in copied if one.is_missing] == [gone.name]


def test_a_copy_that_was_cut_short_is_no_store(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    copying = backup_store(tmp_path / "store", tmp_path / "copy")
    for copied in copying:
        if copied.name == "log.db":
            break
    copying.close()  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="is no store"):
        EmbeddedStore(tmp_path / "copy", "reader")


def test_other_targets_are_refused(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    with pytest.raises(ConfigError, match="not empty: it has file"):
        list(backup_store(tmp_path / "store", tmp_path / "taken"))
    with pytest.raises(ConfigError, match="cannot make"):
        list(backup_store(tmp_path / "store", tmp_path / "taken" / "file"))
    with pytest.raises(ConfigError, match="is no store"):
        list(backup_store(tmp_path / "taken", tmp_path / "copy"))


def test_a_copy_inside_of_what_is_copied_is_refused(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    for inside in (tmp_path / "store", tmp_path / "store" / "copy"):
        with pytest.raises(ConfigError, match="is in"):
            list(backup_store(tmp_path / "store", inside))
    assert problems(tmp_path / "store") == []

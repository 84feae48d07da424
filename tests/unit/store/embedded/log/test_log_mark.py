"""The second place: slots in turn, torn writes, and when it is synced."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.store.embedded.filled import add_batch, fill
from wherecast.store.embedded.log import log_mark
from wherecast.store.embedded.log.log_mark import LogMark, MarkSync, read_mark, write_mark
from wherecast.store.embedded.log.log_tables import Marks
from wherecast.store.embedded.store import EmbeddedStore

FIRST = Marks(1, 20, 3, 4000, 5, 60, bytes(range(16)))


def later(commits: int) -> Marks:
    return replace(FIRST, commits=FIRST.commits + commits, end=FIRST.end + commits)


def test_the_last_commit_is_read(tmp_path: Path) -> None:
    assert read_mark(tmp_path) is None
    mark = LogMark(tmp_path, FIRST)
    assert read_mark(tmp_path) == FIRST
    for number in range(1, 30):
        mark.write(later(number))
        assert read_mark(tmp_path) == later(number)
    mark.close()
    assert (tmp_path / "log.mark").stat().st_size == 4096
    write_mark(tmp_path, later(29))
    assert read_mark(tmp_path) == later(29)


def test_a_torn_write_leaves_the_commit_before_it(tmp_path: Path) -> None:
    mark = LogMark(tmp_path, FIRST)
    mark.write(later(1))
    before = (tmp_path / "log.mark").read_bytes()
    mark.write(later(2))
    mark.close()
    after = (tmp_path / "log.mark").read_bytes()
    changed = [place for place in range(4096) if before[place] != after[place]]
    for cut in changed:
        (tmp_path / "log.mark").write_bytes(after[:cut] + before[cut:])
        assert read_mark(tmp_path) == later(1)
        (tmp_path / "log.mark").write_bytes(before[: cut + 1] + after[cut + 1 :])
        assert read_mark(tmp_path) == (later(2) if cut < changed[0] else later(1))


def test_an_older_history_is_written_anew(tmp_path: Path) -> None:
    write_mark(tmp_path, later(5))
    write_mark(tmp_path, FIRST)
    assert read_mark(tmp_path) == FIRST


def test_a_write_that_fails_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mark = LogMark(tmp_path, FIRST)
    os.close(mark._descriptor)
    mark._descriptor = os.open(tmp_path / "log.mark", os.O_RDONLY)
    mark.write(later(1))
    mark.write(later(2))
    mark.close()
    assert len(caplog.records) == 1
    assert read_mark(tmp_path) == FIRST


@pytest.mark.parametrize(("every_s", "syncs"), [(0.0, 3), (1e9, 1)])
def test_a_batch_syncs_it_once_in_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every_s: float, syncs: int
) -> None:
    found: list[str] = []

    def sync(descriptor: int) -> None:
        found.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)

    fill(tmp_path / "store", batches=0)
    store = EmbeddedStore(tmp_path / "store")
    store.batches._mark_sync = MarkSync(tmp_path / "store", every_s)  # type: ignore[attr-defined]
    with monkeypatch.context() as patched:
        patched.setattr(log_mark, "sync", sync)
        epoch = store.batches.begin()
        for _ in range(3):
            add_batch(store, epoch)
    store.close()
    assert found == ["log.mark"] * syncs


def test_a_commit_that_ends_after_the_close_writes_to_no_other_file(tmp_path: Path) -> None:
    mark = LogMark(tmp_path, FIRST)
    mark.close()
    others = [(tmp_path / f"{number}").open("wb") for number in range(8)]  # take its descriptor
    mark.write(later(1))
    for other in others:
        other.close()
        assert Path(other.name).read_bytes() == b""
    assert read_mark(tmp_path) == FIRST

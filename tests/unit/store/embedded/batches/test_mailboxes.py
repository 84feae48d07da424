"""What only a store on disk has: files, damage, other processes."""

import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.contract.feed import (
    GAP,
    SUBSCRIBERS,
    Feed,
    batch_of,
    commit_all,
    made_again,
    pull,
    whole,
)
from tests.contract.places import EmbeddedOpened, embedded
from wherecast.model import ConflictError, StoreError
from wherecast.store.contracts import DamagedSegment
from wherecast.store.segments.merging import FAN_IN
from wherecast.store.segments.segment_settings import SegmentSettings

FILES = SegmentSettings(row_bytes_max=1, dropped_kept_s=0)
KEPT = SegmentSettings(row_bytes_max=1, dropped_kept_s=3600)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


def files_of(path: Path) -> list[Path]:
    return sorted((path / "segments").iterdir())


def pulled(opened: EmbeddedOpened) -> dict[str, list[tuple[int, list[str]]]]:
    return {name: list(pull(opened.mailboxes, name)) for name in SUBSCRIBERS}


def change_row(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path / "batches.db"))
    connection.execute(statement)
    connection.close()


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def shorten(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


class TestReopening:
    @pytest.mark.parametrize("settings", [SegmentSettings(), FILES])
    def test_everything_is_there_again(self, path: Path, settings: SegmentSettings) -> None:
        feed = Feed(1)
        for number in range(5):
            with embedded(path, settings=settings) as opened:
                assert opened.batches.progress().position == feed.position
                assert opened.batches.begin() == number + 1
                assert pulled(opened) == whole(feed)
                commit_all(opened.batches, feed, [2, 3, 1], number + 1)
                opened.mailboxes.merge()

    def test_a_pipeline_writes_while_another_process_delivers(self, path: Path) -> None:
        feed = Feed(1)
        with embedded(path, settings=FILES) as owner, embedded(path, "pipeline", FILES) as pipeline:
            epoch = pipeline.batches.begin()
            for _ in range(2 * FAN_IN):
                commit_all(pipeline.batches, feed, [3], epoch)
                pipeline.mailboxes.merge()
                assert owner.batches.progress().sequence == feed.end
                assert pulled(owner) == whole(feed)


class TestFiles:
    def test_small_segments_are_rows(self, path: Path) -> None:
        feed = Feed(1)
        with embedded(path) as opened:
            commit_all(opened.batches, feed, [5, 5], opened.batches.begin())
            assert files_of(path) == []

    def test_what_no_row_names_goes_when_a_pipeline_begins(self, path: Path) -> None:
        feed = Feed(1)
        with embedded(path, settings=KEPT) as opened:
            commit_all(opened.batches, feed, [5] * FAN_IN, opened.batches.begin())
            opened.mailboxes.merge()
            named = files_of(path)
            assert len(named) == FAN_IN + 1  # the merged ones stay for readers that know them
            for name in ("0.tmp", "0-1-00.arrow"):
                (path / "segments" / name).write_bytes(b"left behind")
            opened.batches.begin()
            assert files_of(path) == named

    def test_files_that_were_merged_go_after_a_while(self, path: Path) -> None:
        feed = Feed(1)
        with embedded(path, settings=FILES) as opened:
            commit_all(opened.batches, feed, [5] * FAN_IN, opened.batches.begin())
            assert opened.mailboxes.merge() == FAN_IN - 1
            assert opened.mailboxes.merge() == 0
            assert len(files_of(path)) == 1
            assert pulled(opened) == whole(feed)
            opened.mailboxes.trim(feed.end)
            assert files_of(path) == []

    def test_a_reader_looks_again_where_a_file_went(self, path: Path) -> None:
        feed = Feed(1)
        with embedded(path, settings=FILES) as writer, embedded(path, "reader") as reader:
            commit_all(writer.batches, feed, [5] * FAN_IN, writer.batches.begin())
            opened = reader.segments.open
            merged: list[int] = []

            def merge_first(row: object) -> object:
                if not merged:
                    merged.append(writer.mailboxes.merge())
                    writer.mailboxes.merge()  # deletes the files
                return opened(row)  # type: ignore[arg-type]

            reader.segments.open = merge_first  # type: ignore[method-assign,assignment]
            assert pulled(reader) == whole(feed)
            assert merged == [FAN_IN - 1]

    def test_a_commit_writes_its_files_again_where_they_were_swept(self, path: Path) -> None:
        feed = Feed(1)
        with embedded(path, settings=FILES) as opened:
            epoch = opened.batches.begin()
            prepare = opened.segments.prepare
            swept: list[str] = []

            def prepare_and_lose(*args: object, **kwargs: object) -> object:
                prepared = prepare(*args, **kwargs)  # type: ignore[arg-type]
                if not swept:
                    swept.append(prepared.row.file)
                    (path / "segments" / prepared.row.file).unlink()
                return prepared

            opened.segments.prepare = prepare_and_lose  # type: ignore[method-assign,assignment]
            commit_all(opened.batches, feed, [5], epoch)
            assert swept
            assert pulled(opened) == whole(feed)


class TestBesideOneAnother:
    @pytest.mark.parametrize("settings", [SegmentSettings(), FILES])
    @pytest.mark.parametrize("other", ["merge", "trim"])
    def test_a_merge_that_comes_second_begins_anew(
        self, path: Path, other: str, settings: SegmentSettings
    ) -> None:
        feed = Feed(1)
        with (
            embedded(path, settings=settings) as one,
            embedded(path, "pipeline", settings) as two,
        ):
            commit_all(one.batches, feed, [5] * FAN_IN, one.batches.begin())
            prepare = one.segments.prepare
            done: list[object] = []

            def prepare_late(*args: object, **kwargs: object) -> object:
                if not done:
                    done.append(
                        two.mailboxes.merge() if other == "merge" else two.mailboxes.trim(10 * GAP)
                    )
                return prepare(*args, **kwargs)  # type: ignore[arg-type]

            one.segments.prepare = prepare_late  # type: ignore[method-assign,assignment]
            assert one.mailboxes.merge() == 0
            start = 0 if other == "merge" else 10 * GAP
            assert one.mailboxes.starts_at() == start
            for name in SUBSCRIBERS:
                assert list(pull(one.mailboxes, name)) == feed.queue(name, start)


class TestDamage:
    @pytest.mark.parametrize("harm", [flip, shorten, empty, Path.unlink])
    @pytest.mark.parametrize("is_merged", [False, True])
    def test_a_damaged_file_is_told_and_made_again(
        self, path: Path, harm: Callable[[Path], None], is_merged: bool
    ) -> None:
        feed = Feed(1)
        with embedded(path, settings=FILES) as opened:
            commit_all(opened.batches, feed, [5] * (2 * FAN_IN), opened.batches.begin())
            while is_merged and opened.mailboxes.merge():
                pass
        damaged = files_of(path)[1]
        first, end = map(int, damaged.name.split("-")[:2])
        harm(damaged)
        with embedded(path, settings=FILES) as opened:
            for ask in (
                lambda: opened.mailboxes.queued("ana", first, 1000),
                lambda: opened.mailboxes.counts({"ana": 0}),
            ):
                with pytest.raises(DamagedSegment) as caught:
                    ask()
                assert (caught.value.first, caught.value.end) == (first, end)
            assert list(pull(opened.mailboxes, "ana", end)) == feed.queue("ana", end)
            before = opened.mailboxes.queued("ana", 0, 1000)
            assert before.end == first
            assert before.sequences.tolist() == [n for n, _ in feed.queue("ana") if n < first]
            opened.mailboxes.replace(first, end, made_again(opened.batches, first, end))
            assert pulled(opened) == whole(feed)
        with embedded(path, settings=FILES) as opened:
            assert pulled(opened) == whole(feed)

    def test_merging_a_damaged_one_is_refused(self, path: Path) -> None:
        feed = Feed(1)
        with embedded(path, settings=FILES) as opened:
            commit_all(opened.batches, feed, [5] * FAN_IN, opened.batches.begin())
            flip(files_of(path)[3])
            with pytest.raises(DamagedSegment) as caught:
                opened.mailboxes.merge()
            first, end = caught.value.first, caught.value.end
            assert (first, end) == (15 * GAP, 20 * GAP)
            opened.mailboxes.replace(first, end, made_again(opened.batches, first, end))
            assert opened.mailboxes.merge() == FAN_IN - 1
            assert pulled(opened) == whole(feed)

    @pytest.mark.parametrize("first", [0, 5 * GAP, 10 * GAP, 15 * GAP])
    def test_a_missing_one_is_told_and_made_again(self, path: Path, first: int) -> None:
        feed = Feed(1)
        with embedded(path) as opened:
            commit_all(opened.batches, feed, [5] * 4, opened.batches.begin())
        change_row(path, f"DELETE FROM segments WHERE first = {first}")
        with embedded(path) as opened:
            with pytest.raises(DamagedSegment) as caught:
                list(pull(opened.mailboxes, "ana"))
            assert (caught.value.first, caught.value.end) == (first, first + 5 * GAP)
            again = made_again(opened.batches, first, first + 5 * GAP)
            opened.mailboxes.replace(first, first + 5 * GAP, again)
            assert pulled(opened) == whole(feed)

    def test_ranges_that_no_batch_has_are_not_filled(self, path: Path) -> None:
        feed = Feed(1)
        with embedded(path) as opened:
            commit_all(opened.batches, feed, [5] * 4, opened.batches.begin())
            again = made_again(opened.batches, 0, 5 * GAP)
            opened.mailboxes.trim(5 * GAP)
            with pytest.raises(ConflictError):
                opened.mailboxes.replace(0, 5 * GAP, again)
            beyond = [(20 * GAP, batch_of(0, 20, 25))]
            with pytest.raises(ConflictError):
                opened.mailboxes.replace(20 * GAP, 25 * GAP, beyond)

    def test_merging_over_a_missing_one_is_refused(self, path: Path) -> None:
        feed = Feed(1)
        with embedded(path) as opened:
            commit_all(opened.batches, feed, [5] * (FAN_IN + 1), opened.batches.begin())
        change_row(path, f"DELETE FROM segments WHERE first = {15 * GAP}")
        with embedded(path) as opened:
            with pytest.raises(DamagedSegment) as caught:
                opened.mailboxes.merge()
            assert (caught.value.first, caught.value.end) == (15 * GAP, 20 * GAP)
            again = made_again(opened.batches, 15 * GAP, 20 * GAP)
            opened.mailboxes.replace(15 * GAP, 20 * GAP, again)
            assert opened.mailboxes.merge() == FAN_IN - 1
            assert pulled(opened) == whole(feed)

    @pytest.mark.parametrize(
        "statement",
        [
            f"UPDATE segments SET data = zeroblob(length(data)) WHERE first = {5 * GAP}",
            f"UPDATE segments SET data = x'' WHERE first = {5 * GAP}",
            f"UPDATE segments SET data = NULL WHERE first = {5 * GAP}",
            f"UPDATE segments SET digest = zeroblob(16) WHERE first = {5 * GAP}",
            (
                "UPDATE segments SET data = other.data FROM segments other "
                f"WHERE segments.first = {5 * GAP} AND other.first = {10 * GAP}"
            ),
        ],
    )
    def test_a_damaged_row_is_told_and_made_again(self, path: Path, statement: str) -> None:
        feed = Feed(1)
        with embedded(path) as opened:
            commit_all(opened.batches, feed, [5, 5, 5], opened.batches.begin())
        change_row(path, statement)
        with embedded(path) as opened:
            with pytest.raises(DamagedSegment) as caught:
                list(pull(opened.mailboxes, "ana"))
            assert (caught.value.first, caught.value.end) == (5 * GAP, 10 * GAP)
            again = made_again(opened.batches, 5 * GAP, 10 * GAP)
            opened.mailboxes.replace(5 * GAP, 10 * GAP, again)
            assert pulled(opened) == whole(feed)

    @pytest.mark.parametrize(
        "statement",
        [
            *(f"DELETE FROM segments WHERE first = {first}" for first in (0, 5 * GAP, 10 * GAP)),
            f'UPDATE segments SET "end" = {11 * GAP} WHERE first = {5 * GAP}',
            f'UPDATE segments SET "end" = {9 * GAP} WHERE first = {5 * GAP}',
            f"UPDATE segments SET first = {6 * GAP} WHERE first = {5 * GAP}",
            f"UPDATE state SET starts_at = {5 * GAP}",
            'UPDATE batches SET "end" = 16 WHERE first = 10',
        ],
    )
    def test_missing_notifications_are_never_passed_over(self, path: Path, statement: str) -> None:
        feed = Feed(1)
        with embedded(path) as opened:
            commit_all(opened.batches, feed, [5, 5, 5], opened.batches.begin())
        change_row(path, statement)
        expected = pytest.raises(
            StoreError, match=r"store check --repair|digest is wrong|are missing"
        )
        with embedded(path) as opened, expected:
            list(pull(opened.mailboxes, "ana", limit=1))

    @pytest.mark.parametrize("column", ["bytes", "tier"])
    def test_damage_in_what_is_derived_harms_nothing(self, path: Path, column: str) -> None:
        feed = Feed(1)
        with embedded(path) as opened:
            commit_all(opened.batches, feed, [5] * 3, opened.batches.begin())
        change_row(path, f"UPDATE segments SET {column} = 0")
        with embedded(path) as opened:
            assert pulled(opened) == whole(feed)

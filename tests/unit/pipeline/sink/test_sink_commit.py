"""The commit of a sink: all or nothing at every instant, each batch once."""

import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wherecast.model import ConfigError, SnapshotError
from wherecast.pipeline.sink import sink_commit
from wherecast.pipeline.sink.hive_partitions import PartitionColumns
from wherecast.pipeline.sink.parquet_files import FileOptions, ParquetFiles, StagedFile
from wherecast.pipeline.sink.sink_commit import StreamBatch, begin_job, commit, drop_job, recover
from wherecast.pipeline.sink.sink_location import SinkLocation

WEEK_S = 7 * 86_400


def staged(location: SinkLocation, job: str, name: str, number: int) -> StagedFile:
    """A staged file with one row."""
    folder = f"{sink_commit.staging_folder(job)}/attempt-{number}"
    begin_job(location, job)
    with location.writing(f"{folder}/{name}", sink_commit.staging_folder(job)) as stream:
        pq.write_table(pa.table({"n": [number]}), stream)
        nbytes = stream.tell()
    return StagedFile(folder, name, nbytes)


def numbers(location: SinkLocation) -> list[int]:
    """The rows that a reader of the directory sees; it skips names with `_`, as Spark does."""
    seen = [
        path
        for path in Path(location.uri).rglob("*.parquet")
        if not any(part.startswith("_") for part in path.relative_to(location.uri).parts)
    ]
    return sorted(pq.ParquetFile(path).read().column("n")[0].as_py() for path in seen)


@pytest.fixture
def sink(tmp_path: Path) -> SinkLocation:
    return SinkLocation.of(tmp_path / "sink")


def test_files_appear_with_the_commit_and_nothing_else_stays(sink: SinkLocation) -> None:
    files = [staged(sink, "j", "a.parquet", 1), staged(sink, "j", "k=1/b.parquet", 2)]
    assert numbers(sink) == []
    assert commit(sink, "j", files)
    assert numbers(sink) == [1, 2]
    assert sorted(os.listdir(sink.uri)) == ["_SUCCESS", "a.parquet", "k=1"]


def test_a_file_that_no_task_reported_is_never_seen(sink: SinkLocation) -> None:
    staged(sink, "j", "twin.parquet", 9)
    commit(sink, "j", [staged(sink, "j", "a.parquet", 1)])
    assert numbers(sink) == [1]
    assert not list(Path(sink.uri).rglob("twin.parquet"))


def test_overwrite_deletes_the_other_files_and_their_folders(sink: SinkLocation) -> None:
    commit(sink, "j", [staged(sink, "j", "k=1/a.parquet", 1), staged(sink, "j", "b.parquet", 2)])
    other = staged(sink, "running", "c.parquet", 7)
    commit(sink, "k", [staged(sink, "k", "k=2/a.parquet", 3)], overwrite=True)
    assert numbers(sink) == [3]
    assert not (Path(sink.uri) / "k=1").exists()
    commit(sink, "running", [other])  # a job beside it was not disturbed
    assert numbers(sink) == [3, 7]


@pytest.mark.parametrize("done", range(7))
def test_a_commit_that_dies_is_carried_out_by_the_next_write(
    sink: SinkLocation, done: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(sink, "old", [staged(sink, "old", "old.parquet", 1)])
    files = [staged(sink, "j", f"{number}.parquet", number) for number in (2, 3, 4)]
    calls = iter(range(100))

    def dying(name: str) -> None:
        whole = getattr(SinkLocation, name)

        def call(self: SinkLocation, *given: str) -> None:
            if next(calls) == done:
                raise KeyboardInterrupt
            whole(self, *given)

        monkeypatch.setattr(SinkLocation, name, call)

    with monkeypatch.context() as context:
        for name in ("delete", "move", "delete_folder"):
            dying(name)
        try:
            commit(sink, "j", files, overwrite=True)
        except KeyboardInterrupt:
            context.undo()
    monkeypatch.undo()
    recover(sink)
    assert numbers(sink) == [2, 3, 4]
    recover(sink)
    assert numbers(sink) == [2, 3, 4]


def test_before_its_record_a_job_changes_nothing(sink: SinkLocation) -> None:
    commit(sink, "old", [staged(sink, "old", "old.parquet", 1)])
    staged(sink, "dead", "a.parquet", 2)
    recover(sink)
    assert numbers(sink) == [1]


def test_a_batch_is_committed_once(sink: SinkLocation) -> None:
    batch = StreamBatch("query", 3)
    assert commit(sink, batch.job, [staged(sink, batch.job, "a.parquet", 1)], batch=batch)
    assert not commit(sink, batch.job, [staged(sink, batch.job, "b.parquet", 1)], batch=batch)
    assert numbers(sink) == [1]
    assert not list(Path(sink.uri).rglob("b.parquet"))
    other = StreamBatch("other", 3)
    assert commit(sink, other.job, [staged(sink, other.job, "b.parquet", 2)], batch=other)
    assert numbers(sink) == [1, 2]


def test_the_last_hundred_batches_of_a_query_are_known(sink: SinkLocation) -> None:
    for number in range(103):
        commit(sink, f"q-{number}", [], batch=StreamBatch("q", number))
    known = sorted((Path(sink.uri) / "_wherecast/batches/q").iterdir())
    assert [int(path.name) for path in known] == list(range(3, 103))


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_file_that_the_driver_does_not_see_stops_the_commit(
    sink: SinkLocation, damage: str
) -> None:
    good, bad = staged(sink, "j", "a.parquet", 1), staged(sink, "j", "b.parquet", 2)
    path = Path(sink.uri) / bad.folder / bad.name
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SnapshotError, match="driver and executors share"):
        commit(sink, "j", [good, bad])
    recover(sink)
    assert numbers(sink) == []


def test_files_of_dead_jobs_go_after_a_week(sink: SinkLocation) -> None:
    staged(sink, "dead", "a.parquet", 1)
    recover(sink, clock=lambda: time.time() + WEEK_S - 60)
    assert list(Path(sink.uri).rglob("*.parquet"))
    recover(sink, clock=lambda: time.time() + WEEK_S + 60)
    assert not list(Path(sink.uri).rglob("*.parquet"))


def test_what_a_dead_job_staged_does_not_make_the_sink_exist(sink: SinkLocation) -> None:
    assert not sink_commit.exists(sink)
    staged(sink, "dead", "a.parquet", 1)
    assert not sink_commit.exists(sink)
    commit(sink, "j", [staged(sink, "j", "b.parquet", 2)])
    assert sink_commit.exists(sink)


def test_an_empty_directory_exists_and_a_file_is_no_sink(tmp_path: Path) -> None:
    assert sink_commit.exists(SinkLocation.of(tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="is a file"):
        sink_commit.exists(SinkLocation.of(tmp_path / "file"))


def test_a_dropped_job_leaves_no_directory(sink: SinkLocation) -> None:
    staged(sink, "j", "a.parquet", 1)
    drop_job(sink, "j", made_directory=True)
    assert not Path(sink.uri).exists()


def straggler(location: SinkLocation, folder: str, number: int) -> None:
    """Writes a file as a task that outlives its job."""
    files = ParquetFiles(location, folder, f"late-{number}", PartitionColumns(), FileOptions())
    files.add(pa.RecordBatch.from_pydict({"n": [number]}))
    files.close()


@pytest.mark.parametrize("folder", ["attempt-1", "late"])
@pytest.mark.parametrize("ends", ["drop", "commit"])
def test_a_task_that_outlives_its_job_leaves_nothing(
    sink: SinkLocation, ends: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = f"{sink_commit.staging_folder('j')}/{folder}"
    delete, refused = SinkLocation.delete_folder, []

    def write_late() -> None:
        with pytest.raises(ConfigError, match="the job was ended"):
            straggler(sink, late, len(refused))
        refused.append(late)

    def slow_delete(self: SinkLocation, name: str) -> None:
        write_late()
        delete(self, name)
        write_late()

    file = staged(sink, "j", "a.parquet", 1)
    monkeypatch.setattr(SinkLocation, "delete_folder", slow_delete)
    if ends == "drop":
        drop_job(sink, "j", made_directory=True)
    else:
        commit(sink, "j", [file])
    write_late()
    assert len(refused) == 3
    if ends == "drop":
        assert not Path(sink.uri).exists()
    else:
        assert sorted(os.listdir(sink.uri)) == ["_SUCCESS", "a.parquet"]


def test_a_file_that_is_open_when_its_job_ends_leaves_nothing(sink: SinkLocation) -> None:
    begin_job(sink, "j")
    late = f"{sink_commit.staging_folder('j')}/attempt"
    options = FileOptions(group_rows_max=1)
    files = ParquetFiles(sink, late, "late", PartitionColumns(), options)
    files.add(pa.RecordBatch.from_pydict({"n": [1]}))
    assert list(Path(sink.uri).rglob("late*"))
    drop_job(sink, "j", made_directory=True)
    files.add(pa.RecordBatch.from_pydict({"n": [2]}))
    files.close()
    assert not Path(sink.uri).exists()


def test_an_object_store_has_the_same_commits(s3: str) -> None:
    sink = SinkLocation.of(f"{s3}/commits/sink")
    assert not sink_commit.exists(sink)
    commit(sink, "j", [staged(sink, "j", "k=1/a.parquet", 1)])
    staged(sink, "dead", "z.parquet", 9)
    batch = StreamBatch("q", 1)
    assert commit(sink, batch.job, [staged(sink, batch.job, "b.parquet", 2)], batch=batch)
    assert not commit(sink, batch.job, [staged(sink, batch.job, "c.parquet", 2)], batch=batch)
    assert sink_commit.exists(sink)
    commit(sink, "o", [staged(sink, "o", "d.parquet", 3)], overwrite=True)
    found = sink.entries(recursive=True) or []
    shown = {entry.path for entry in found if "." in entry.path}
    assert shown == {"d.parquet", "_wherecast/staging/dead/attempt-9/z.parquet"}


@pytest.mark.parametrize("path", [None, "", 3])
def test_a_path_is_a_text_or_a_path(path: object) -> None:
    with pytest.raises(ConfigError, match="path is a path or URI"):
        SinkLocation.of(path)

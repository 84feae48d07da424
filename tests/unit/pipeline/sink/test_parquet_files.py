"""Files of a task: all rows, bounded memory and open files, nothing left where it fails."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from wherecast.pipeline.sink.hive_partitions import PartitionColumns
from wherecast.pipeline.sink.parquet_files import FileOptions, ParquetFiles, StagedFile
from wherecast.pipeline.sink.sink_location import SinkLocation

BY_KEY = PartitionColumns(("k",), (0,))


def files_in(folder: Path, partitions: PartitionColumns, options: FileOptions) -> ParquetFiles:
    return ParquetFiles(SinkLocation.of(folder), "staged", "part-00000", partitions, options)


def rows_of(folder: Path, files: tuple[StagedFile, ...]) -> list[int]:
    found = []
    for file in files:
        path = folder / file.folder / file.name
        assert path.stat().st_size == file.nbytes
        found += pq.ParquetFile(path).read().column("n").to_pylist()
    return sorted(found)


def batch_of(start: int, count: int, keys: int) -> pa.RecordBatch:
    numbers = range(start, start + count)
    return pa.record_batch({"k": [n % keys for n in numbers], "n": list(numbers)})


def test_row_groups_are_filled_and_the_last_one_is_written(tmp_path: Path) -> None:
    files = files_in(tmp_path, PartitionColumns(), FileOptions(group_rows_max=10))
    for start in range(0, 24, 4):
        files.add(batch_of(start, 4, 1))
    done = files.close()
    assert rows_of(tmp_path, done) == list(range(24))
    footer = pq.ParquetFile(tmp_path / done[0].folder / done[0].name).metadata
    assert [footer.row_group(n).num_rows for n in range(footer.num_row_groups)] == [10, 2, 10, 2]


def test_a_partition_has_a_folder_and_a_file(tmp_path: Path) -> None:
    files = files_in(tmp_path, BY_KEY, FileOptions())
    files.add(batch_of(0, 10, 3))
    files.add(batch_of(10, 10, 3))
    done = files.close()
    assert sorted(file.name.partition("/")[0] for file in done) == ["k=0", "k=1", "k=2"]
    assert rows_of(tmp_path, done) == list(range(20))


def test_few_files_are_open_at_once(tmp_path: Path) -> None:
    files = files_in(tmp_path, BY_KEY, FileOptions(files_max=2))
    for start in (0, 10, 20):
        files.add(batch_of(start, 10, 5))
        assert len(files._open) <= 2
    done = files.close()
    assert len({file.name for file in done}) == len(done) == 15
    assert rows_of(tmp_path, done) == list(range(30))


def test_what_waits_is_bounded_over_all_partitions(tmp_path: Path) -> None:
    files = files_in(tmp_path, BY_KEY, FileOptions(waiting_bytes_max=1_000))
    for start in range(0, 1_000, 100):
        files.add(batch_of(start, 100, 4))
        assert sum(file.nbytes for file in files._open.values()) <= 1_000
    assert rows_of(tmp_path, files.close()) == list(range(1_000))


def test_a_task_that_fails_deletes_its_files(tmp_path: Path) -> None:
    files = files_in(tmp_path, BY_KEY, FileOptions(group_rows_max=1, files_max=1))
    files.add(batch_of(0, 10, 3))
    assert list(tmp_path.rglob("*.parquet"))
    files.discard()
    assert not list(tmp_path.rglob("*.parquet"))


def test_the_footer_has_the_metadata_and_the_codec(tmp_path: Path) -> None:
    options = FileOptions("zstd", (("org.apache.spark.version", "4.3.0"),))
    files = files_in(tmp_path, PartitionColumns(), options)
    files.add(batch_of(0, 3, 1))
    [file] = files.close()
    assert file.name == "part-00000-c000.zstd.parquet"
    footer = pq.ParquetFile(tmp_path / file.folder / file.name).metadata
    assert footer.metadata == {b"org.apache.spark.version": b"4.3.0"}
    assert footer.row_group(0).column(0).compression == "ZSTD"

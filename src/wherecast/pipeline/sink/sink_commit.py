"""The commit of a sink: all files of a job become visible, or none does.

    part-….parquet, column=value/part-….parquet     what readers see
    _SUCCESS                                        made by each commit, as Spark makes it
    _wherecast/staging/<job>/<attempt>/…            files that are not committed
    _wherecast/commits/<job>                        a commit that is being carried out
    _wherecast/batches/<query>/<batch>              a batch of a stream that is committed
    _wherecast/moments/<query>/<batch>              the value of `now()` in a batch of a stream

Contract. Readers skip names that begin with `_`, so staged files are never seen. Each attempt of a
task has a folder of its own, and a commit lists the files of one attempt per task. A job is
committed when its record is made, in one step. The record lists what to delete and what to move, by
exact names, so it can be carried out any number of times and by several processes at once. If the
process that made a record dies, the next write to the sink carries the record out. A batch of a
stream is committed once: a repeated batch finds its name and only drops its own files.

The driver makes the staging folder of a job, and tasks only write below it. A job that ends renames
this folder and then deletes it, so a task that outlives its job fails and leaves nothing. Tasks of
a stream make the folder themselves when they start, since a stream's driver does not know the
batch before. An object store has no folders: what such a task stages there stays for a week.

Staged files of processes that died are deleted by a later write when they are a week old, where
the file system tells the time of a file; fsspec tells no time of S3's objects.
"""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Any, Literal

from pyarrow.fs import FileType

from wherecast.model import ConfigError, SnapshotError
from wherecast.pipeline.filters.manifests import packed, unpacked
from wherecast.pipeline.sink.parquet_files import StagedFile
from wherecast.pipeline.sink.sink_location import SinkLocation
from wherecast.store.blobs.blobs import MissingBlob

Mode = Literal["error", "errorifexists", "append", "overwrite", "ignore"]
_OWN = "_wherecast"
_STAGING, _COMMITS, _BATCHES = (f"{_OWN}/{name}" for name in ("staging", "commits", "batches"))
_SUCCESS = "_SUCCESS"
_BATCHES_KEPT = 100
_LEFT_BEHIND_S = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """A batch of a stream, which is committed once.

    Attributes:
        query: the name of the query, the same at every start.
        number: the number of the batch.
    """

    query: str
    number: int

    @property
    def job(self) -> str:
        """The name of the batch as a job."""
        return f"{self.query}-{self.number:020}"

    @property
    def name(self) -> str:
        """The name of the file that says that the batch is committed."""
        return f"{_BATCHES}/{self.query}/{self.number:020}"


def staging_folder(job: str) -> str:
    """The folder for the staged files of a job."""
    return f"{_STAGING}/{job}"


def begin_job(location: SinkLocation, job: str) -> None:
    """Makes the staging folder of a job; tasks write into it and never make it."""
    location.make_folder(staging_folder(job))


def exists(location: SinkLocation) -> bool:
    """Whether the sink exists for Spark's modes: more is there than what dead jobs staged."""
    found = location.entries()
    if found is None:
        return location.is_local and _is_file(location)
    return not found or any(entry.path != _OWN for entry in found)


def _is_file(location: SinkLocation) -> bool:
    parent, _, name = location.uri.rpartition("/")
    if SinkLocation(parent or "/").size(name) is not None:
        raise ConfigError(f"{location.uri} is a file; the matches need a directory")
    return False


def is_committed(location: SinkLocation, batch: StreamBatch) -> bool:
    """Whether a batch of a stream is committed."""
    return location.blobs.exists(batch.name)


def recover(location: SinkLocation, clock: Callable[[], float] = time.time) -> None:
    """Carries out commits of processes that died, and deletes what is left of old jobs."""
    if location.entries(_OWN) is None:
        return
    for name in location.blobs.names(_COMMITS):
        _finish(location, name)
    for job in location.entries(_STAGING) or ():
        newest = max(map(_changed_s, [job, *(location.entries(job.path, True) or ())]))
        if clock() - newest > _LEFT_BEHIND_S:
            location.delete_folder(job.path)


def _changed_s(entry: Any) -> float:
    """When a file changed; a folder does not matter, and without a time the file is new."""
    changed: datetime | None = entry.mtime
    if changed is not None:
        return changed.timestamp()
    return inf if entry.type == FileType.File else 0.0


def commit(
    location: SinkLocation,
    job: str,
    files: Sequence[StagedFile],
    overwrite: bool = False,
    batch: StreamBatch | None = None,
) -> bool:
    """Makes staged files visible; returns whether this call did, False for a repeated batch.

    Args:
        location: the sink.
        job: the name of the job, which names its staging folder.
        files: the files of one attempt per task.
        overwrite: whether all other files of the sink are deleted.
        batch: the batch of a stream that the job writes.

    Raises:
        SnapshotError: this process does not find a staged file; nothing was committed.
    """
    recover(location)
    if batch is not None and is_committed(location, batch):
        drop_job(location, job)
        return False
    _need_files(location, files)
    content = {
        "deletes": _visible(location) if overwrite else [],
        "moves": [[f"{file.folder}/{file.name}", file.name] for file in files],
        "batch": None if batch is None else [batch.query, batch.number],
    }
    record = f"{_COMMITS}/{job}"
    location.blobs.create(record, packed(content))
    _finish(location, record)
    return True


def drop_job(location: SinkLocation, job: str, made_directory: bool = False) -> None:
    """Deletes the staged files of a job.

    On a path, a task that still runs cannot stage anything from then on: its folder has another
    name before the first file is deleted.

    Args:
        location: the sink.
        job: the name of the job.
        made_directory: whether to remove the directory of the sink too, if it is empty.
    """
    aside = staging_folder(uuid.uuid4().hex)
    location.delete_folder(location.set_aside(staging_folder(job), aside))
    location.drop_empty(_STAGING, _COMMITS, _OWN, *([""] if made_directory else []))


def _need_files(location: SinkLocation, files: Sequence[StagedFile]) -> None:
    for file in files:
        size = location.size(f"{file.folder}/{file.name}")
        if size != file.nbytes:
            seen = "is missing" if size is None else f"has {size} bytes instead of {file.nbytes}"
            raise SnapshotError(
                f"{file.name}, which a worker wrote, {seen} at {location.uri} as seen from the"
                " driver: give a path or URI that driver and executors share"
            )


def _visible(location: SinkLocation) -> list[str]:
    """The files of the sink, except the files of commits."""
    found = location.entries(recursive=True) or ()
    names = [entry.path for entry in found if entry.type == FileType.File]
    return sorted(name for name in names if not name.startswith(f"{_OWN}/"))


def _finish(location: SinkLocation, record: str) -> None:
    """Carries out a commit; a part that is done already is skipped."""
    try:
        content = unpacked(location.blobs.read(record), f"{location.uri}/{record}")
    except MissingBlob:  # another process was faster
        return
    for name in content["deletes"]:
        location.delete(name)
    location.drop_empty(*_folders(content["deletes"]))
    for name, target in content["moves"]:
        if location.size(name) is not None:
            location.move(name, target)
        elif location.size(target) is None:
            raise SnapshotError(f"{name} is missing in {location.uri}; the commit stays unfinished")
    location.blobs.create(_SUCCESS, b"")
    if content["batch"] is not None:
        batch = StreamBatch(*content["batch"])
        location.blobs.create(batch.name, b"")
        location.blobs.delete(StreamBatch(batch.query, batch.number - _BATCHES_KEPT).name)
    location.blobs.delete(record)
    drop_job(location, record.rpartition("/")[2])


def _folders(names: Sequence[str]) -> list[str]:
    """The folders of files, inner ones first."""
    found = set()
    for name in names:
        parts = name.split("/")[:-1]
        found |= {"/".join(parts[: length + 1]) for length in range(len(parts))}
    return sorted(found, key=lambda folder: -folder.count("/"))

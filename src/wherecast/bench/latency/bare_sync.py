"""The time of a bare sync: 4 KiB appended to a file and put on disk."""

import os
from pathlib import Path
from time import perf_counter

from wherecast.bench.latencies import latency_columns
from wherecast.bench.progress import Row

BYTES = 4_096
_COUNT = 1_000


def bare_syncs(size: int | None, home: Path) -> Row:
    """The row of appends to a new file in a directory, each followed by a sync."""
    count, millis = min(size or _COUNT, _COUNT), []
    block, path = bytes(BYTES), home / "bare-sync"
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        for _ in range(count):
            started = perf_counter()
            os.write(file, block)
            os.fdatasync(file)
            millis.append((perf_counter() - started) * 1e3)
        written = os.fstat(file).st_size
    finally:
        os.close(file)
        path.unlink()
    return {"what": "bare sync", **latency_columns(millis), "bytes": written}


def sync_columns(syncs: Row) -> Row:
    """The columns with the times of bare syncs, for a row measured after them."""
    return {"sync p50 ms": syncs["p50 ms"], "sync p99 ms": syncs["p99 ms"]}

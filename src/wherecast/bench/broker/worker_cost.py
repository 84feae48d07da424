"""The memory and the first match of a live worker, and the cost of PySpark's garbage collections.

    python -m wherecast.bench.broker.worker_cost DIRECTORY

runs such a worker: it loads the snapshot in a directory and matches publications. Then it runs
tasks of a few publications, each followed by a full collection, as in PySpark's daemon: first
normally, then with the loaded objects frozen. It prints its figures as JSON.
"""

import gc
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.bench.measured import WrongResult
from wherecast.bench.progress import Row
from wherecast.columns.log_encoding import encode_batch
from wherecast.model import Schema
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.match_range import match_range
from wherecast.pipeline.live.subscriptions import live_snapshots
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.pipeline.spark.worker_garbage import WorkerGarbage
from wherecast.store.blobs.blobs import open_blobs
from wherecast.store.position import Position
from wherecast.store.records import CHANGES, ChangeEntry, Entry

Ints = npt.NDArray[np.int64]
SUBSCRIPTIONS = 1_000_000
_PER_SUBSCRIBER = 4
_PER_ENTRY = 20_000
_PUBLICATIONS = 1_000
_FEW = 4  # publications of a small task
_TASKS = 20
_VALUES = 1_000  # different values of each attribute
_WIDTH = 40
_ATTRIBUTES = ("a", "b", "c", "d")
_SCHEMA = Schema.from_dict(dict.fromkeys(_ATTRIBUTES, "int"))
_STREAM = "stream"


def measure(size: int | None, seed: int, home: Path) -> Row:
    """Saves a snapshot of `size` subscriptions; measures a new process that loads it."""
    count = min(size or SUBSCRIPTIONS, SUBSCRIPTIONS)
    lows = np.random.default_rng(seed).integers(_VALUES, size=(count, len(_ATTRIBUTES)))
    known = LiveSubscriptions()
    for entry in _entries(lows):
        known.advance([entry], entry.end, Position())
    live_snapshots.save(known, open_blobs(home))
    module = "wherecast.bench.broker.worker_cost"
    run = subprocess.run(
        [sys.executable, "-m", module, str(home)], capture_output=True, text=True, check=True
    )
    figures: dict[str, Any] = json.loads(run.stdout)
    expected = _expected(lows)
    if figures["matches"] != expected:
        raise WrongResult(f"a worker found {figures['matches']:,} matches instead of {expected:,}")
    return {"what": "worker, from a snapshot", "subscriptions": count, **figures}


def _entries(lows: Ints) -> Iterator[ChangeEntry]:
    """The changes that define the stream, and a subscription per row: a range per attribute."""
    first = [("stream", _STREAM, "", "", _SCHEMA.to_json(), "")]
    yield ChangeEntry(0, 1, Position(), 0, _changes(first))
    for start in range(0, len(lows), _PER_ENTRY):
        rows = []
        for number, row in enumerate(lows[start : start + _PER_ENTRY].tolist(), start):
            pairs = zip(_ATTRIBUTES, row, strict=True)
            text = " AND ".join(f"{name} BETWEEN {low} AND {low + _WIDTH}" for name, low in pairs)
            subscriber = f"subscriber-{number // _PER_SUBSCRIBER:07}"
            id = f"subscription-{number % _PER_SUBSCRIBER}"
            rows.append(("subscribe", _STREAM, subscriber, id, text, ""))
        yield ChangeEntry(start + 1, len(rows), Position(), 0, _changes(rows))


def _changes(rows: Sequence[tuple[str, ...]]) -> pa.RecordBatch:
    columns = [
        pa.array(column, pa.string()).cast(field.type)
        for column, field in zip(zip(*rows, strict=True), CHANGES, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=CHANGES)


def _values() -> Ints:
    """The attributes of the publications."""
    factors = np.array([1, 7, 13, 3], np.int64)
    values: Ints = np.arange(_PUBLICATIONS, dtype=np.int64)[:, None] * factors % _VALUES
    return values


def _expected(lows: Ints) -> int:
    """The number of matches, counted without an index."""
    found = 0
    for row in _values():
        inside = (lows <= row) & (row <= lows + _WIDTH)
        found += int(inside.all(axis=1).sum())
    return found


def _work(directory: str) -> dict[str, float]:
    """The figures of this process as a worker."""
    columns = [array_of(column.astype(np.int64)) for column in _values().T]
    batch = pa.RecordBatch.from_arrays(columns, list(_ATTRIBUTES))
    data = encode_batch(batch, _SCHEMA)
    blobs, before = open_blobs(directory), _private_bytes()
    begun = perf_counter()
    known = live_snapshots.load(blobs, Position())
    loaded = perf_counter() - begun
    matched = _count_matches(known, data, _PUBLICATIONS)
    first = perf_counter() - begun
    held = (_private_bytes() - before) / max(1, len(known))
    small = encode_batch(batch.slice(0, _FEW), _SCHEMA)
    garbage = WorkerGarbage()
    plain = _task_ms(known, small)
    garbage.end_task(1)
    frozen = _task_ms(known, small)
    gc.unfreeze()
    return {
        "publications": _PUBLICATIONS,
        "matches": matched,
        "own bytes/subscription": held,
        "load s": loaded,
        "first match s": first,
        "task ms": plain,
        "frozen task ms": frozen,
        "task ratio": frozen / plain,
    }


def _task_ms(known: LiveSubscriptions, data: bytes) -> float:
    """The CPU time of a small task and the collection after it; the minimum of several."""
    costs = []
    for _ in range(_TASKS):
        begun = process_time()
        _count_matches(known, data, _FEW)
        gc.collect()
        costs.append(process_time() - begun)
    return min(costs) * 1e3


def _count_matches(known: LiveSubscriptions, data: bytes, count: int) -> int:
    """The number of matches of publications in the bytes of a log."""
    entry = Entry(0, 0, count, _STREAM, 0, data)
    return match_range(Range(0, 0, count), [entry], known, at=0).figures.matches


def _private_bytes() -> int:
    """The anonymous memory of this process."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise OSError("smaps_rollup has no line on anonymous memory")


if __name__ == "__main__":
    import importlib.util

    if importlib.util.find_spec("pyspark") is not None:
        import pyspark.worker  # noqa: F401  # the modules that a worker of Spark holds
    print(json.dumps(_work(sys.argv[1])))

"""The time of a new process to its first matches, without and with compiled code on disk."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

START = "start"
_FILTERS, _PUBLICATIONS = 10_000, 1_000
_SCRIPT = "from wherecast.bench.matching.start import first_match; first_match({seed})"


def starts(seed: int) -> Iterator[dict[str, Any]]:
    """Runs two processes, one after the other, with the same initially empty compile cache."""
    with TemporaryDirectory() as directory:
        environment = {**os.environ, "WHERECAST_CACHE_DIR": directory}
        for engine in ("cold", "warm"):
            started = perf_counter()
            run = subprocess.run(
                [sys.executable, "-c", _SCRIPT.format(seed=seed)],
                env=environment, capture_output=True, text=True, check=True,
            )  # fmt: skip
            seconds = perf_counter() - started
            yield {"what": f"{START}, {engine}", "engine": "columnar", **json.loads(run.stdout),
                   "process seconds": seconds}  # fmt: skip


def first_match(seed: int) -> None:
    """Reads filters and matches publications; prints the times as JSON."""
    from wherecast.bench.case import batch_of, filters_of
    from wherecast.workloads import bluedove

    workload = bluedove(seed=seed)
    filters, batch = filters_of(workload, _FILTERS), batch_of(workload, _PUBLICATIONS)
    started = perf_counter()
    from wherecast.matching import Index

    index = Index(workload.schema)
    index.add_all(filters)
    read = perf_counter()
    matches = index.match(batch)
    done = perf_counter()
    row = {
        "filters": _FILTERS,
        "publications": _PUBLICATIONS,
        "matches": len(matches.indices),
        "text to first match, s": done - started,
        "add seconds": read - started,
        "first match seconds": done - read,
    }
    print(json.dumps(row))

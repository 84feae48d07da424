"""The inline pipeline as a process of its own, so that it can be killed without the cost of Java.

It takes the directory, says what the pipeline on Spark says, and ends as that does: when its
standard input is closed, or when another pipeline has taken over.
"""

import sys
from pathlib import Path
from threading import Event, Thread

from tests.crash.small_segments import SMALL_OPTIONS
from wherecast.model import ConflictError, StoreError
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.pipeline.live.repair.mend_segments import mend
from wherecast.store.clock import now_us
from wherecast.store.contracts import DamagedSegment
from wherecast.store.open_store import open_store

_LOOK_S = 0.02


def run(path: Path, stop: Event) -> None:
    """Matches, commits and merges until it is told to stop."""
    store = open_store(path, "pipeline", SMALL_OPTIONS)
    pipeline = InlinePipeline(store, now_us)
    print("ready", flush=True)
    while not stop.wait(_LOOK_S):
        try:
            batch = pipeline.next_batch()
            if batch is not None:
                print("committed", pipeline.commit(batch).count, flush=True)
            store.mailboxes.merge()
        except DamagedSegment as damage:
            mend(store, damage.first, damage.end, now_us())
        except StoreError as error:
            print(error, file=sys.stderr, flush=True)


def listen(stop: Event) -> None:
    """Stops at the end of the standard input."""
    sys.stdin.read()
    stop.set()


if __name__ == "__main__":
    stop = Event()
    Thread(target=listen, args=(stop,), daemon=True).start()
    try:
        run(Path(sys.argv[1]), stop)
    except ConflictError as error:
        sys.exit(str(error))

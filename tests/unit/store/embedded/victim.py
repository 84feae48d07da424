"""A pipeline and a reader of cursors in one process, which is killed: see `test_kills`.

It tells on standard output what returned to it: `batch N` after a commit, `cursor N` after a write.
"""

import sys
from pathlib import Path

from tests.contract.feed import segment
from tests.contract.places import embedded
from wherecast.store.embedded.segment_rows import SegmentSettings
from wherecast.store.position import Position
from wherecast.store.records import Batch, Cursor

EACH = 3
FILES = SegmentSettings(row_bytes_max=1, dropped_kept_s=0)


def batch_at(first: int) -> Batch:
    """The batch that begins at a sequence."""
    end = first + EACH
    return Batch(Position({0: first}), Position({0: end}), 0, (segment(0, first, end),))


def run(path: Path, batches: int) -> None:
    """Commits batches from where the progress is, merges, and moves a cursor."""
    with embedded(path, settings=FILES) as opened:
        epoch = opened.batches.begin()
        for _ in range(batches):
            progress = opened.batches.progress()
            done = opened.batches.commit(batch_at(progress.sequence), epoch)
            print("batch", done.sequence, flush=True)
            opened.mailboxes.merge()
            opened.cursors.write({"ana": Cursor(done.sequence)})
            print("cursor", done.sequence, flush=True)


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]))

"""All that writes to a store in one process, which is killed: see `test_kills`.

It tells on standard output what returned to it: `log N` after an append, `change N` after changes,
`batch N` after a commit, `cursor N` after a write.
"""

import sys
from contextlib import closing
from pathlib import Path

from tests.contract.feed import segment
from tests.contract.stores import Body, changes, publications
from wherecast.store.changes import compaction
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position
from wherecast.store.records import Batch, Cursor
from wherecast.store.segments.segment_settings import SegmentSettings

EACH = 3
CHANGE = ("subscribe", "air", "ana", "s", "no2 > 1")
FILES = SegmentSettings(row_bytes_max=1, dropped_kept_s=0)


def batch_at(first: int) -> Batch:
    """The batch that begins at a sequence."""
    end = first + EACH
    return Batch(Position({0: first}), Position({0: end}), 0, (segment(0, first, end),))


def run(path: Path, batches: int) -> None:
    """Publishes, changes, trims, commits from where the progress is, merges, moves a cursor."""
    compaction.CHANGES_MIN = 4
    with closing(EmbeddedStore(path, segments=FILES)) as store:
        epoch = store.batches.begin()
        for _ in range(batches):
            end = store.log.ends()[0]
            store.log.append(publications([Body(end + n) for n in range(EACH)]), at=1)
            print("log", end + EACH, flush=True)
            changed = store.log.change(changes(*[CHANGE] * EACH), at=1)
            print("change", changed.version + EACH, flush=True)
            store.log.trim(Position({0: end // 2}))
            progress = store.batches.progress()
            done = store.batches.commit(batch_at(progress.sequence), epoch)
            print("batch", done.sequence, flush=True)
            store.mailboxes.merge()
            store.cursors.write({"ana": Cursor(done.sequence)})
            print("cursor", done.sequence, flush=True)


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]))

"""All that writes to a store in one process, which is killed: see `test_kills`.

It tells on standard output what returned to it: `log N` after an append, `change N` after changes,
`batch N` after a commit, `cursor N` after a write.
"""

import sys
from contextlib import closing
from pathlib import Path

from tests.contract.feed import batch_of
from tests.contract.stores import Body, changes, publications
from wherecast.store.changes import compaction
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position
from wherecast.store.records import Batch, Cursor, LinkMark
from wherecast.store.segments.segment_settings import SegmentSettings

EACH = 3
CHANGE = ("subscribe", "air", "ana", "s", "no2 > 1")
FILES = SegmentSettings(row_bytes_max=1, dropped_kept_s=0)


def batch_at(first: int) -> Batch:
    """The batch that begins at an offset."""
    end = first + EACH
    return batch_of(0, first, end)


def run(path: Path, batches: int) -> None:
    """Publishes, changes, trims, commits from where the progress is, merges, moves a cursor."""
    compaction.CHANGES_MIN = 4
    with closing(EmbeddedStore(path, segments=FILES)) as store:
        epoch = store.batches.begin()
        for _ in range(batches):
            end = store.log.ends()[0]
            mark = LinkMark("hub", "other", "1", Position({0: end + EACH}))
            bodies = [Body(end + n, publisher="p") for n in range(EACH)]
            store.log.append(publications(bodies), at=1, mark=mark)
            print("log", end + EACH, flush=True)
            changed = store.log.change(changes(*[CHANGE] * EACH), at=1)
            print("change", changed.version + EACH, flush=True)
            store.log.trim(Position({0: end // 2}))
            progress = store.batches.progress()
            done = store.batches.commit(batch_at(progress.position[0]), epoch)
            print("batch", done.position[0], flush=True)
            store.mailboxes.merge()
            store.cursors.write({"ana": Cursor(done.sequence)})
            print("cursor", done.position[0], flush=True)


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]))

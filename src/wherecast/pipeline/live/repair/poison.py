"""Publications that end the process which matches them: found by matching a range piecewise.

The pieces are matched in a process of their own, which says after each one that it has come so far.
Where it dies, the piece it was at is cut into smaller ones for the next process.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import wherecast
from wherecast.model import ConfigError, StoreError
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.match_range import match_range
from wherecast.pipeline.live.stage.read_range import read_range
from wherecast.pipeline.live.subscriptions.live_subscriptions import DEFAULT_INDEX
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.pipeline.live.subscriptions.subscription_cache import subscriptions_at
from wherecast.store.clock import now_us
from wherecast.store.open_store import open_store
from wherecast.store.position import Position

_CUT = 16  # pieces of a piece
_UNREADABLE = 3  # the exit code of a process that could not read the store
_CULPRITS_MAX = 100  # in one range; beyond it something else is wrong


def culprits(
    path: Path, range_: Range, changes: int, index: IndexFactory = DEFAULT_INDEX
) -> list[int]:
    """The offsets of the publications of a range that end the process; at most a hundred.

    Args:
        path: the directory of the store.
        range_: which publications.
        changes: the changes before this version are known.
        index: makes indexes of the kind that the process uses.

    Raises:
        StoreError: a process for that could not be started, or could not read the store.
    """
    matching = _Matching(path, changes, index.kind)
    found: list[int] = []
    waiting = [(range_, max(1, (range_.end - range_.first) // _CUT))]
    while waiting and len(found) < _CULPRITS_MAX:
        part, size = waiting.pop()
        reached = matching.reached(part, size)
        if reached >= part.end:
            continue
        end = min(reached + size, part.end)
        waiting.append((Range(part.partition, end, part.end), size))
        if end - reached == 1:
            # Twice, since a process may also end for a reason of its own.
            if matching.reached(Range(part.partition, reached, end), 1) < end:
                found.append(reached)
        else:
            bad = Range(part.partition, reached, end)
            waiting.append((bad, max(1, (end - reached) // _CUT)))
    return sorted(found)


@dataclass(frozen=True, slots=True)
class _Matching:
    """How ranges are matched in processes of their own.

    Attributes:
        path: the directory of the store.
        changes: the changes before this version are known.
        kind: of the index.
    """

    path: Path
    changes: int
    kind: str

    def reached(self, range_: Range, size: int) -> int:
        """The offset up to which a process came with a range, in pieces of a size."""
        if range_.first >= range_.end:
            return range_.end
        given = (range_.partition, range_.first, range_.end, self.changes, size)
        module = "wherecast.pipeline.live.repair.poison"
        command = [sys.executable, "-m", module, str(self.path), self.kind, *map(str, given)]
        package = str(Path(wherecast.__file__).parents[1])
        places = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        run = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(places)},
            check=False,
        )
        lines = run.stdout.split()
        if not lines or run.returncode == _UNREADABLE:  # it says nothing about publications
            raise StoreError("the process that looks for poison could not begin")
        return int(lines[-1])


def match_pieces(
    path: Path, range_: Range, changes: int, size: int, index: IndexFactory = DEFAULT_INDEX
) -> Iterator[int]:
    """Matches a range piece by piece; yields its first offset, and the end of each piece."""
    store = open_store(path, "reader")
    # Other partitions are not read, so their start may be anywhere: their end reaches every floor.
    start = Position({**store.log.ends(), range_.partition: range_.first})
    known = subscriptions_at(store.log, store.snapshots, start, changes, index)
    yield range_.first
    for first in range(range_.first, range_.end, size):
        end = min(first + size, range_.end)
        piece = Range(range_.partition, first, end)
        match_range(piece, read_range(store.log, piece), known, now_us())
        yield end


if __name__ == "__main__":
    partition, first, end, changes, size = map(int, sys.argv[3:])
    path, range_, index = Path(sys.argv[1]), Range(partition, first, end), IndexFactory(sys.argv[2])
    try:
        for reached in match_pieces(path, range_, changes, size, index):
            print(reached, flush=True)
    except (StoreError, ConfigError):
        sys.exit(_UNREADABLE)

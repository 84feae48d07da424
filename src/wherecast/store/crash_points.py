"""Named points at which a test can kill the process, to see what is left then.

`WHERECAST_CRASH_AT=commit.before:3` kills the process, as `kill -9` does, when it comes to that
point for the third time; `WHERECAST_CRASH_TOLD` names a file that then gets a line with the point.
Without the first variable a point costs one call.
"""

import os
import signal
from collections import Counter

POINTS = (
    "log.before",  # publications or changes are in their transaction, which is not committed
    "log.after",  # they are committed, and nobody was told
    "segment.written",  # a segment's file is written, not synced, and has not its name yet
    "segment.named",  # it is on disk under its name, and no row names it
    "commit.before",  # all of a batch is in its transaction, which is not committed
    "commit.after",  # it is committed, and nobody was told
    "merge.joined",  # segments are joined in memory
    "merge.before",  # rows are replaced in a transaction, which is not committed
    "merge.after",  # it is committed, and the old files are there
    "sweep.before",  # old files are deleted, their rows are there
    "compact.before",  # changes are replaced by what stands, in a transaction, not committed
    "compact.after",  # it is committed
    "cursors.before",  # cursors are in their transaction, which is not committed
    "cursors.after",  # they are committed, and nobody was told
)
"""The points of a store at work, in the order in which a batch meets them."""

UPGRADE_POINTS = (
    "upgrade.copied",  # the backup is complete, and has not its name yet
    "upgrade.saved",  # it has its name
    "upgrade.built",  # new files are on disk, none is in its place
    "upgrade.log",  # the log is in its place
    "upgrade.batches",  # the other new files are in their places
    "upgrade.before",  # all old files are gone, and the file `format` is not written
)
"""The points of an upgrade, in the order in which it meets them."""

_AT, _, _COUNT = os.environ.get("WHERECAST_CRASH_AT", "").partition(":")
_TOLD = os.environ.get("WHERECAST_CRASH_TOLD", "")
_met: Counter[str] = Counter()


def reached(point: str) -> None:
    """Says that the process has come to a point; nothing happens where it is not to end here."""
    if point == _AT:
        _met[point] += 1
        if _met[point] >= int(_COUNT or 1):
            if _TOLD:
                with open(_TOLD, "a", encoding="utf-8") as file:
                    file.write(f"{point}\n")
            os.kill(os.getpid(), signal.SIGKILL)

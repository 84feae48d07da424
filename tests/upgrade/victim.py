"""Upgrades a directory and is killed on the way: see `test_kills`.

Arguments: a directory for practice, after which everything is imported and compiled; the directory;
the number of the call of a Python or C function at which the process ends, -1 for none. Prints the
number of calls that the upgrade has made.
"""

import os
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from wherecast.store.embedded.directory import Directory


def run(path: Path, last: int) -> int:
    """Upgrades a directory; returns the number of calls."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        if event in ("call", "c_call"):
            if calls == last:
                os.kill(os.getpid(), signal.SIGKILL)
            calls += 1

    sys.setprofile(count)
    try:
        with closing(Directory(path)):
            pass
    finally:
        sys.setprofile(None)
    return calls


if __name__ == "__main__":
    if sys.argv[1]:
        run(Path(sys.argv[1]), -1)
    print(run(Path(sys.argv[2]), int(sys.argv[3])))

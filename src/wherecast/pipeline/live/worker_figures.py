"""What the workers of a pipeline on Spark tell its driver: how much each has done.

Each worker writes a file of its own, anew after each batch, into a folder that the driver made.
They are figures for people: where a file cannot be written, or its worker dies just then, a batch
is not counted.
"""

import os
import shutil
import tempfile
import uuid
from contextlib import suppress
from pathlib import Path

import orjson

from wherecast.pipeline.live.pipeline_figures import PipelineFigures

_PREFIX = "wherecast-told-"


class Teller:
    """The side of a worker.

    Args:
        folder: as its `Listener` says.
    """

    def __init__(self, folder: Path) -> None:
        self._done = PipelineFigures()
        self._path = folder / f"{os.getpid()}-{uuid.uuid4().hex}.json"

    def tell(self, figures: PipelineFigures) -> None:
        """Adds what was done for a batch, and tells what was done so far."""
        self._done.add(figures)
        self._done.holds([figures])
        new = self._path.with_suffix(".new")
        with suppress(OSError):
            new.write_bytes(orjson.dumps(self._done.to_dict()))
            os.replace(new, self._path)


class Listener:
    """The side of the driver.

    Attributes:
        folder: where workers write.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._by_dead = PipelineFigures()

    def heard(self) -> PipelineFigures:
        """What all workers have done so far, and how large the index of the last one is."""
        total, newest = PipelineFigures(), 0
        for path in self.folder.glob("*.json"):
            with suppress(OSError):
                is_alive, at = _is_alive(path), path.stat().st_mtime_ns
                figures = PipelineFigures.from_dict(orjson.loads(path.read_bytes()))
                if at >= newest:
                    newest = at
                    total.holds([figures])
                if is_alive:
                    total.add(figures)
                else:
                    self._by_dead.add(figures)
                    path.unlink()
        total.add(self._by_dead)
        return total

    def close(self) -> None:
        """Removes the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _is_alive(path: Path) -> bool:
    """Whether the worker of a file is there, on this host."""
    try:
        os.kill(int(path.name.partition("-")[0]), 0)
    except ProcessLookupError:
        return False
    return True

"""What the parts of a pipeline did, as small files in the folder `figures/` of a store.

A file per part, and not a table: the layout of `batches.db` stays as it is, a file needs no commit
and no sync of its own, and an older version ignores the folder. Figures are for people. They may be
lost, so nothing is synced, and where a file cannot be written, a batch is not counted.

Concurrency: any number of threads and processes; whoever adds holds a lock.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from typing_extensions import override

from wherecast.store.contracts import Figures
from wherecast.store.folders import make_folder, private_opener
from wherecast.store.records import ShareFigures, added

_LOCK = ".lock"


class EmbeddedFigures(Figures):
    """The figures in a folder, which is made by the first `add`.

    Args:
        folder: where the files are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @override
    def add(self, epoch: int, figures: ShareFigures) -> None:
        with suppress(OSError), self._locked():
            path = self._folder / f"{figures.part}.json"
            found = _read(path)
            if found is not None and found["epoch"] > epoch:
                return
            before = found["figures"] if found is not None and found["epoch"] == epoch else {}
            total = added(_figures(figures.part, before), figures)
            content = {
                "epoch": epoch,
                "figures": {"counts": total.counts, "levels": total.levels},
            }
            new = path.with_suffix(".new")
            with open(new, "w", opener=private_opener) as file:
                file.write(json.dumps(content))
            os.replace(new, path)

    @override
    def read(self) -> list[ShareFigures]:
        found = {path.stem: _read(path) for path in sorted(self._folder.glob("*.json"))}
        contents = {part: one for part, one in found.items() if one is not None}
        newest = max((one["epoch"] for one in contents.values()), default=0)
        return [
            _figures(part, one["figures"])
            for part, one in contents.items()
            if one["epoch"] == newest
        ]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        make_folder(self._folder, is_private=True)
        lock = self._folder / _LOCK
        with open(lock, "a", opener=private_opener) as file:  # closing it gives the lock back
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _read(path: Path) -> dict[str, Any] | None:
    """The content of a file; None where there is none, or it is damaged."""
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        _figures("", content["figures"])
        int(content["epoch"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return content


def _figures(part: str, given: Mapping[str, Any]) -> ShareFigures:
    return ShareFigures(part, dict(given.get("counts", {})), dict(given.get("levels", {})))

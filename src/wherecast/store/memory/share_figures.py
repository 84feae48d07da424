"""What the parts of a pipeline did, in memory."""

import threading

from typing_extensions import override

from wherecast.store.contracts import Figures
from wherecast.store.records import ShareFigures, added


class MemoryFigures(Figures):
    """The figures of the newest epoch, by part."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._epoch = 0
        self._by_part: dict[str, ShareFigures] = {}

    @override
    def add(self, epoch: int, figures: ShareFigures) -> None:
        with self._lock:
            if epoch > self._epoch:
                self._epoch, self._by_part = epoch, {}
            if epoch == self._epoch:
                before = self._by_part.get(figures.part, ShareFigures(figures.part))
                self._by_part[figures.part] = added(before, figures)

    @override
    def read(self) -> list[ShareFigures]:
        with self._lock:
            return [self._by_part[part] for part in sorted(self._by_part)]

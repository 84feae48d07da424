"""The second place: the bounds of `log.db` after its last commits, in the small file `log.mark`.

SQLite ends a write-ahead log at the first damaged frame, and says nothing of the commits behind
that frame. So each commit also writes its number, its bounds and its chain hash into a slot of
`log.mark`, after `log.db` has them for sure. A log that holds less than the second place knows has
lost commits.

A slot has a checksum, and commits take the slots in turn: a write that is cut short leaves the
commits before it. The file is synced from time to time, with a batch record, and when it is closed.
After a power cut the second place may be older than the log; that is harmless.

Concurrency: any number of threads write, each commit to its own slot, and one may close the file
meanwhile; others read.
"""

import logging
import os
import struct
import time
import zlib
from contextlib import suppress
from pathlib import Path
from threading import Lock

from wherecast.store.embedded.log.log_tables import Marks
from wherecast.store.folders import private_opener, sync, sync_folder

NAME = "log.mark"
SYNC_EVERY_S = 1.0
_MAGIC = b"WCm1"
_SLOT_BYTES = 512
_SLOTS = 8
_CRC = struct.Struct("<I")
_SIZE = len(_MAGIC) + len(Marks().packed())
_log = logging.getLogger("wherecast.store")


class LogMark:
    """The file `log.mark`, open for writing.

    Args:
        folder: the directory of the store.
        marks: the bounds of the log now. A file that knows others is written anew.
    """

    def __init__(self, folder: Path, marks: Marks) -> None:
        self._path = folder / NAME
        self._is_failing = False
        self._lock = Lock()
        self._is_closed = False
        is_new = not self._path.exists()
        self._descriptor = private_opener(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            if read_mark(folder) != marks:
                empty = bytearray(_SLOTS * _SLOT_BYTES)
                place = marks.commits % _SLOTS * _SLOT_BYTES
                empty[place : place + _SLOT_BYTES] = _slot(marks)
                os.ftruncate(self._descriptor, len(empty))
                os.pwrite(self._descriptor, empty, 0)
                sync(self._descriptor)
            if is_new:
                sync_folder(folder)
        except BaseException:
            os.close(self._descriptor)
            raise

    def write(self, marks: Marks) -> None:
        """Writes the bounds after a commit; never fails, since the commit is there."""
        with self._lock:
            if self._is_closed:  # another file may have the descriptor
                return
            try:
                os.pwrite(self._descriptor, _slot(marks), marks.commits % _SLOTS * _SLOT_BYTES)
                self._is_failing = False
            except OSError as error:
                if not self._is_failing:
                    _log.warning("cannot write %s: %s", self._path, error)
                self._is_failing = True

    def close(self) -> None:
        """Syncs and closes the file; a commit that ends later is not written any more."""
        with self._lock:
            self._is_closed = True
            with suppress(OSError):
                sync(self._descriptor)
            os.close(self._descriptor)


class MarkSync:
    """Syncs the second place with batch records, at most once in a while.

    Args:
        folder: the directory of the store.
        every_s: the shortest time between two syncs.
    """

    def __init__(self, folder: Path, every_s: float = SYNC_EVERY_S) -> None:
        self._path = folder / NAME
        self._every_s = every_s
        self._next_at = 0.0

    def run(self) -> None:
        """Syncs the file if that is due; never fails, since the batch is there."""
        now = time.monotonic()
        if now < self._next_at:
            return
        self._next_at = now + self._every_s
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
            try:
                sync(descriptor)
            finally:
                os.close(descriptor)


def read_mark(folder: Path) -> Marks | None:
    """The bounds after the last commit that the second place knows; None if it knows none.

    Whoever compares them with the log reads them first: an owner may commit meanwhile.
    """
    try:
        content = (folder / NAME).read_bytes()
    except OSError:
        return None
    found = [_marks_of(content[start:]) for start in range(0, len(content), _SLOT_BYTES)]
    return max(filter(None, found), key=lambda marks: marks.commits, default=None)


def write_mark(folder: Path, marks: Marks) -> None:
    """Writes the second place of a log that is not in use.

    Raises:
        OSError: the file cannot be written.
    """
    LogMark(folder, marks).close()


def _slot(marks: Marks) -> bytes:
    data = _MAGIC + marks.packed()
    return (data + _CRC.pack(zlib.crc32(data))).ljust(_SLOT_BYTES, b"\0")


def _marks_of(slot: bytes) -> Marks | None:
    """The bounds in a slot; None if the slot is empty or damaged."""
    data, crc = slot[:_SIZE], slot[_SIZE : _SIZE + _CRC.size]
    if not data.startswith(_MAGIC) or crc != _CRC.pack(zlib.crc32(data)):
        return None
    return Marks.unpacked(data[len(_MAGIC) :])

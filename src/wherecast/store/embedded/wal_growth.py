"""Gives a write-ahead log its length before it is needed.

A sync of a file that grows writes the new length, too, and costs a multiple of a sync inside of the
file. So the writer of a database fills its write-ahead log with zeros up to the length at which it
is emptied. SQLite never takes zeros for a frame: a frame has a page number, which is never 0. And
SQLite begins an emptied log anew with another salt in its header, so old frames are no frames of
the new log.

A clean close removes the write-ahead log, so it grows at each opening.
"""

import os
from contextlib import suppress
from pathlib import Path

import apsw

_FRAME_BYTES = 24 + 4096
_PIECE_BYTES = 1 << 16  # SQLite writes less than 128 KiB at once
_FREE_SHARE = 8  # a write-ahead log may take this part of what is free
_PAGES_MIN = 32


def checkpoint_pages(path: Path, most: int) -> int:
    """Number of pages at which a write-ahead log is emptied; fewer than `most` on a small disk.

    A write-ahead log that fills the disk could not be emptied any more: for that the database may
    have to grow.
    """
    return min(most, max(_affordable_pages(path), _PAGES_MIN))


def grow_wal(connection: apsw.Connection, path: Path, pages: int, vfs: str) -> None:
    """Fills the write-ahead log of a database with zeros up to a number of pages.

    A disk that is nearly full, or that refuses, is no error: then the log grows as it is written.

    Args:
        connection: writes the database.
        path: of the database.
        pages: length of the write-ahead log.
        vfs: the name of the layer that SQLite reaches its files through; empty is the usual one.
    """
    if pages > _affordable_pages(path):
        return
    size = 32 + pages * _FRAME_BYTES
    connection.execute("BEGIN IMMEDIATE")  # nobody else writes to the log meanwhile
    try:
        with suppress(apsw.Error):
            _fill(f"{path}-wal", size, vfs)
    finally:
        connection.execute("ROLLBACK")


def _affordable_pages(path: Path) -> int:
    """Number of pages that a write-ahead log may have on this disk."""
    status = os.statvfs(path.parent)
    return status.f_bavail * status.f_frsize // _FREE_SHARE // _FRAME_BYTES


def _fill(name: str, size: int, vfs: str) -> None:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_WAL
    file = apsw.VFSFile(vfs, name, [flags, 0])
    try:
        at = file.xFileSize()
        if at >= size:
            return
        while at < size:
            piece = min(_PIECE_BYTES, size - at)
            file.xWrite(bytes(piece), at)
            at += piece
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
    finally:
        file.xClose()

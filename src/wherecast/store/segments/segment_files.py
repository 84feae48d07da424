"""Segments as bytes, and those bytes as files that are there whole or not at all.

A file is written under a name that ends in `.tmp`, synced, moved to its own name, and its folder
synced. Its name has its range and its digest, so it is never changed; at most it is written again
with the same content. Who has mapped a file keeps it when it is removed.
"""

import errno
import os
import struct
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa

from wherecast.model.errors import StoreError, reason_of
from wherecast.store.crash_points import reached
from wherecast.store.folders import private_opener, sync_folder
from wherecast.store.records import SEGMENT


def encode_row(segment: pa.RecordBatch) -> pa.Buffer:
    """A segment as bytes for a row; its schema is known."""
    return segment.serialize() if segment.num_rows else pa.py_buffer(b"")


def encode_file(segment: pa.RecordBatch) -> pa.Buffer:
    """A segment as an Arrow file."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, SEGMENT) as writer:
        writer.write_batch(segment)
    return sink.getvalue()


def decode_row(data: pa.Buffer) -> pa.RecordBatch:
    """The segment of what `encode_row` gave, which its digest was checked for."""
    if not data.size:
        return pa.RecordBatch.from_pylist([], SEGMENT)
    return pa.ipc.read_record_batch(data, SEGMENT)


def decode_file(data: pa.Buffer) -> pa.RecordBatch:
    """The segment of what `encode_file` gave, which its digest was checked for; not copied."""
    return pa.ipc.open_file(data).get_batch(0)


def segment_digest(first: int, end: int, data: pa.Buffer) -> bytes:
    """A digest of a segment's bytes that holds for one range alone."""
    return blake2b(data, digest_size=16, key=struct.pack("<qq", first, end)).digest()


def file_name(first: int, end: int, digest: bytes) -> str:
    """The name of a segment's file."""
    return f"{first:019d}-{end:019d}-{digest.hex()}.arrow"


class SegmentFiles:
    """The files of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, data: pa.Buffer) -> None:
        """Writes a file whole; it survives a loss of power.

        Raises:
            FileNotFoundError: someone swept the folder meanwhile; it can be tried again.
            StoreError: it cannot be written.
        """
        temporary = self.folder / f"{uuid.uuid4().hex}.tmp"
        with _as_store_error(self.folder / name):
            try:
                with open(temporary, "xb", opener=private_opener) as file:
                    file.write(data)
                    file.flush()
                    reached("segment.written")
                    os.fsync(file.fileno())
                os.replace(temporary, self.folder / name)
            except BaseException:
                with suppress(OSError):
                    temporary.unlink()
                raise
            sync_folder(self.folder)
        reached("segment.named")

    def map(self, name: str) -> pa.Buffer:
        """The bytes of a file, mapped.

        Raises:
            FileNotFoundError: no file has that name.
        """
        with _as_store_error(self.folder / name), pa.memory_map(str(self.folder / name)) as file:
            return file.read_buffer()

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return (self.folder / name).exists()

    def names(self) -> list[str]:
        """All files, unfinished ones too."""
        with _as_store_error(self.folder):
            return sorted(os.listdir(self.folder))

    def remove(self, name: str) -> None:
        """Removes a file if it exists."""
        with _as_store_error(self.folder / name):
            (self.folder / name).unlink(missing_ok=True)


@contextmanager
def _as_store_error(path: Path) -> Iterator[None]:
    """Errors of the operating system, as one line that names the file."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreError(f"disk full: cannot write {path}; nothing was stored") from error
        raise StoreError(f"cannot use {path}: {reason_of(error)}") from error

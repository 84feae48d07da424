"""The file of an index: a header, then arrays at multiples of 64 bytes, mapped when it is loaded.

    magic (16 bytes) · format (uint32) · header bytes (uint32) · digest of the header (32 bytes)
    header: JSON with the schema, the figures, and name, type, shape, place and digest of each array
    arrays

Loading checks the magic, the format and the header's digest; it reads no array. `checked_parts`
reads all.

The content id is the digest of the filters, their ids and the schema: the same filters give the
same id, however they were planned. The header's digest covers the digests of everything else.
"""

import json
import os
import struct
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.model import SnapshotError
from wherecast.model.errors import reason_of

MAGIC = b"wherecast index\n"
FORMAT = 2
_ALIGN = 64
_PREFIX = struct.Struct("<16sII32s")
_HEADER_BYTES_MAX = 1 << 30

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class MappedFile:
    """A file that is mapped into memory.

    Attributes:
        raw: uint8, all bytes of the file.
        format: its format.
        header_end: where its header ends.
        figures: what its header says.
        content_id: the digest of the filters, their ids and the schema.
    """

    raw: npt.NDArray[np.uint8]
    format: int
    header_end: int
    figures: dict[str, Any]
    content_id: str

    @property
    def start(self) -> int:
        """Where the arrays begin."""
        return _aligned(self.header_end)


@dataclass(frozen=True, slots=True)
class FilePart:
    """An array of a file, or the padding between arrays, and whether it is as it was written."""

    name: str
    nbytes: int
    intact: bool


def write_file(
    path: Path, figures: dict[str, Any], arrays: Arrays, planned: tuple[str, ...] = ()
) -> str:
    """Writes figures and arrays, whole or not at all; returns the content id.

    Arrays whose names start with one of `planned` do not count in that id.
    """
    listed: dict[str, list[Any]] = {}
    place = 0
    for name, array in arrays.items():
        flat = np.ascontiguousarray(array)
        listed[name] = [flat.dtype.str, list(flat.shape), place, flat.nbytes, _digest(flat)]
        place += _aligned(flat.nbytes)
    said = [
        [name, *about[:2], *about[3:]]
        for name, about in listed.items()
        if not name.startswith(planned)
    ]
    content = blake2b(json.dumps([figures, said]).encode(), digest_size=32).hexdigest()
    header = json.dumps({**figures, "content": content, "arrays": listed}).encode()
    digest = blake2b(header, digest_size=32).digest()
    start = _aligned(_PREFIX.size + len(header))
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as out:
            out.write(_PREFIX.pack(MAGIC, FORMAT, len(header), digest) + header)
            for name, array in arrays.items():
                out.seek(start + listed[name][2])
                out.write(np.ascontiguousarray(array).data.cast("B") if array.size else b"")
            out.truncate(start + place)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise SnapshotError(f"{path}: cannot be written: {reason_of(error)}") from None
    return content


def map_file(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]], str]:
    """The figures, the mapped arrays and the content id of a file.

    Raises:
        SnapshotError: it is missing, of a newer format, cut off, or its header is damaged.
    """
    mapped = map_header(path)
    arrays = {}
    for name, (dtype, shape, place, count, _) in mapped.figures["arrays"].items():
        begin, end = mapped.start + place, mapped.start + place + count
        if end > len(mapped.raw):
            raise SnapshotError(f"{path}: is cut off in the array {name}")
        arrays[name] = mapped.raw[begin:end].view(dtype).reshape(shape)
    return mapped.figures, arrays, mapped.content_id


def map_header(path: Path) -> MappedFile:
    """A mapped file whose header is whole.

    Raises:
        SnapshotError: it is missing, of a newer format, or its header is damaged.
    """
    try:
        raw: npt.NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "is empty"
        raise SnapshotError(f"{path}: {reason.lower()}") from None
    if len(raw) < _PREFIX.size or raw[: len(MAGIC)].tobytes() != MAGIC:
        raise SnapshotError(f"{path}: is not the file of an index")
    _, format_, size, digest = _PREFIX.unpack(raw[: _PREFIX.size].tobytes())
    if format_ > FORMAT:
        message = f"{path}: has format {format_}, this version reads up to {FORMAT}"
        raise SnapshotError(f"{message}; a newer Wherecast wrote it")
    header = raw[_PREFIX.size : _PREFIX.size + size].tobytes()
    if size > _HEADER_BYTES_MAX or blake2b(header, digest_size=32).digest() != digest:
        raise SnapshotError(f"{path}: its header is damaged")
    figures = json.loads(header)
    return MappedFile(raw, format_, _PREFIX.size + size, figures, figures["content"])


def checked_parts(path: Path) -> Iterator[FilePart]:
    """Every part of a file, compared with what was written; reads the whole file.

    Raises:
        SnapshotError: the file cannot even be mapped.
    """
    figures, arrays, _ = map_file(path)
    for name, array in arrays.items():
        yield FilePart(name, array.nbytes, _digest(array) == figures["arrays"][name][4])
    yield _padding(path)


def _padding(path: Path) -> FilePart:
    """The bytes between the arrays: intact where all are zero and the file ends with the last."""
    mapped = map_header(path)
    raw, listed = mapped.raw, mapped.figures["arrays"].values()
    ends = [mapped.header_end, *(mapped.start + place + count for _, _, place, count, _ in listed)]
    gaps = [raw[end : _aligned(end)] for end in ends]
    intact = len(raw) == _aligned(ends[-1]) and not any(gap.any() for gap in gaps)
    return FilePart("padding", sum(len(gap) for gap in gaps), intact)


def damaged_parts(path: Path) -> list[str]:
    """The names of the damaged parts of a file; reads the whole file.

    Raises:
        SnapshotError: the file cannot even be mapped.
    """
    return [part.name for part in checked_parts(path) if not part.intact]


def _aligned(place: int) -> int:
    """The first multiple of the alignment from a place on."""
    return -(-place // _ALIGN) * _ALIGN


def _digest(array: npt.NDArray[Any]) -> str:
    flat = np.ascontiguousarray(array)
    return blake2b(flat.data.cast("B") if flat.size else b"", digest_size=16).hexdigest()

"""The outline of an Arrow stream: how many rows it says it has, and whether it is packed.

Read from the heads of its messages, before anything is made of their bodies. The heads are
flatbuffers; only the few fields that are needed are looked at (Arrow columnar format, `Message.fbs`
and `Schema.fbs`).
"""

import struct
from dataclasses import dataclass

import pyarrow as pa

_DICTIONARY, _BATCH = 2, 3  # kinds of messages
_HEADER_TYPE, _HEADER = 1, 2  # fields of a message
_LENGTH, _COMPRESSION = 0, 3  # fields of a record batch
_DATA = 1  # field of a dictionary batch: a record batch


@dataclass(frozen=True, slots=True)
class StreamOutline:
    """What a stream says about itself.

    Attributes:
        rows: number of rows of all batches.
        is_packed: whether a batch is compressed.
    """

    rows: int
    is_packed: bool


def outline_of(body: bytes) -> StreamOutline:
    """The outline of a stream.

    Raises:
        ValueError: these bytes are no Arrow stream.
    """
    rows, is_packed = 0, False
    messages = pa.ipc.MessageReader.open_stream(pa.py_buffer(body))
    while True:
        try:
            message = messages.read_next_message()
        except StopIteration:
            return StreamOutline(rows, is_packed)
        try:
            head = _Table.root(bytes(message.metadata))
            kind, header = head.byte(_HEADER_TYPE), head.table(_HEADER)
            batch = header.table(_DATA) if kind == _DICTIONARY and header is not None else header
            if kind in (_DICTIONARY, _BATCH) and batch is not None:
                is_packed |= batch.table(_COMPRESSION) is not None
                rows += batch.long(_LENGTH) if kind == _BATCH else 0
        except (struct.error, IndexError) as error:
            raise ValueError(f"a message cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of a flatbuffer: where it begins in the bytes."""

    data: bytes
    start: int

    @classmethod
    def root(cls, data: bytes) -> "_Table":
        return cls(data, struct.unpack_from("<I", data, 0)[0])

    def byte(self, field: int) -> int:
        """A number of one byte; 0 where it is not there."""
        at = self._position(field)
        return 0 if at is None else self.data[at]

    def long(self, field: int) -> int:
        """A number of eight bytes; 0 where it is not there."""
        at = self._position(field)
        return 0 if at is None else int(struct.unpack_from("<q", self.data, at)[0])

    def table(self, field: int) -> "_Table | None":
        """A table inside this one, if it is there."""
        at = self._position(field)
        if at is None:
            return None
        return _Table(self.data, at + struct.unpack_from("<I", self.data, at)[0])

    def _position(self, field: int) -> int | None:
        fields = self.start - struct.unpack_from("<i", self.data, self.start)[0]
        (size,) = struct.unpack_from("<H", self.data, fields)
        entry = 4 + 2 * field
        if fields < 0 or entry >= size:
            return None
        (offset,) = struct.unpack_from("<H", self.data, fields + entry)
        return self.start + offset if offset else None

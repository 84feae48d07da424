"""Partitions of a sink as Spark and Hive name them: a folder `column=value` for each value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of

_Numbers = npt.NDArray[np.int64]
_NULL = "__HIVE_DEFAULT_PARTITION__"
# The characters that `ExternalCatalogUtils.escapePathName` of Spark escapes.
_ESCAPED = frozenset("\"#%'*/:=?\\{[]^\x7f") | frozenset(map(chr, range(0x20)))


@dataclass(frozen=True, slots=True)
class PartitionColumns:
    """The columns of a result that become folders.

    Attributes:
        names: the names of the columns, in the order of the folders.
        places: the positions of the columns in a batch.
    """

    names: tuple[str, ...] = ()
    places: tuple[int, ...] = ()

    def split(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The folder of each combination of values, with its rows without these columns."""
        if not self.places:
            yield "", batch
            return
        rest = batch.select([n for n in range(batch.num_columns) if n not in self.places])
        columns = [batch.column(place).dictionary_encode() for place in self.places]
        codes = np.zeros(batch.num_rows, np.int64)
        for column in columns:
            # Null has the code after the last value.
            own = values_of(column.indices.fill_null(len(column.dictionary)).cast(pa.int64()))
            codes = _dense(codes * (len(column.dictionary) + 1) + own)
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(order)], strict=True):
            rows = order[start:stop]
            values = [_text(column, int(rows[0])) for column in columns]
            whole = len(rows) == batch.num_rows
            yield self._folder(values), rest if whole else rest.take(array_of(rows))

    def _folder(self, values: Sequence[str | None]) -> str:
        pairs = zip(self.names, values, strict=True)
        return "/".join(f"{escaped(name)}={escaped(value or _NULL)}" for name, value in pairs)


def escaped(text: str) -> str:
    """A text as Spark writes it in the name of a partition's folder."""
    return "".join(f"%{ord(sign):02X}" if sign in _ESCAPED else sign for sign in text)


def _dense(codes: _Numbers) -> _Numbers:
    """The same grouping with small codes, so that products of many columns do not overflow."""
    places: _Numbers = np.unique(codes, return_inverse=True)[1]
    return places


def _text(column: pa.DictionaryArray, row: int) -> str | None:
    value = column.slice(row, 1).dictionary_decode().cast(pa.string())
    text: str | None = value[0].as_py()
    return text

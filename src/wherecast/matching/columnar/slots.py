"""Slots: the attributes that filters name, each a column of keys and cells of a batch."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of, filled, values_of
from wherecast.columns.arrow_schema import is_open_field
from wherecast.columns.comparable import held
from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.element import Element
from wherecast.language.meaning.formula_columns import FormulaInputs, derived_column
from wherecast.language.meaning.keys import float_keys
from wherecast.model import Attribute

_SEARCH_FACTOR = 64  # strings for each text, from which on searching is sooner than hashing all
_OPEN_PARTS = {"float": 0, "string": 1, "bool": 2}


@dataclass(frozen=True, slots=True, eq=False)
class SlotColumn:
    """The values of one slot for a batch.

    Attributes:
        values: float64 or int64 [rows], anything where a value is missing; a string is twice its
            rank among the index's strings, plus one where it is one of them.
        bits: uint8, a bit per row whether its value is there, and 16 bytes more; empty where
            all are.
        first: the bit of the first row.
        texts: for a string the values of the batch, each once where there are many; else None.
        codes: for a string int64 [rows], the place of each value in `texts`; else None.
    """

    values: npt.NDArray[np.float64] | npt.NDArray[np.int64]
    bits: npt.NDArray[np.uint8]
    first: int = 0
    texts: pa.Array | None = None
    codes: npt.NDArray[np.int64] | None = None

    def has(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether some rows have a value, bool [rows]."""
        if not len(self.bits):
            return np.ones(len(rows), bool)
        places = rows + self.first
        there: npt.NDArray[np.bool_] = (self.bits[places >> 3] >> (places & 7)) & 1 > 0
        return there

    def present(self) -> npt.NDArray[np.bool_]:
        """Which rows have a value, bool [rows]."""
        return self.has(np.arange(len(self.values)))

    def take(self, rows: npt.NDArray[np.int64]) -> "SlotColumn":
        """The column of some of the rows."""
        bits = packed_bits(self.has(rows)) if len(self.bits) else self.bits
        codes = None if self.codes is None else self.codes[rows]
        return SlotColumn(self.values[rows], bits, 0, self.texts, codes)


_BITS_PADDING = 16  # bytes, so that 64 bits can be read from any row on
_PLACES = np.arange(16)
_ALL_THERE = np.zeros(0, np.uint8)
_NULLS = {"float": pa.float64(), "string": pa.large_string(), "bool": pa.bool_()}


def columns_of(
    batch: pa.RecordBatch,
    attributes: tuple[Attribute, ...],
    strings: pa.Array,
    arrays: "BatchColumns | None" = None,
) -> list[SlotColumn]:
    """The column of each slot; `strings` are those of the index, sorted and distinct.

    That of an element has no values: a publication has any number of them.
    """
    arrays = arrays or BatchColumns(batch)
    found = []
    for attribute in attributes:
        if isinstance(attribute, Derived):
            found.append(_column(derived_column(attribute, arrays.inputs)))
        elif isinstance(attribute, Element):
            found.append(absent(batch.num_rows))
        else:
            array = arrays.find(attribute)
            found.append(absent(batch.num_rows) if array is None else _column(array))
    return _ranked(found, strings)


class BatchColumns:
    """The columns of a batch by attribute.

    Attributes:
        inputs: the columns as formulas read them.
    """

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch
        self._places = {field.name: place for place, field in enumerate(batch.schema)}
        self.inputs = FormulaInputs(self.held, batch.num_rows)

    def find(self, attribute: Attribute) -> pa.Array | None:
        """The column of an attribute, None where the batch has none."""
        place = self._places.get(attribute.name)
        if place is None:
            return None
        array = self._batch.column(place)
        if is_open_field(self._batch.schema.field(place)):
            return _open_part(array, attribute)
        return array

    def held(self, attribute: Attribute) -> pa.Array:
        """The column of an attribute in canonical form; nulls where the batch has none."""
        found = self.find(attribute)
        if found is None:
            return pa.nulls(self._batch.num_rows, _NULLS.get(attribute.type, pa.int64()))
        plain = pa.types.is_boolean(found.type) or pa.types.is_nested(found.type)
        text = pa.types.is_string(found.type) or pa.types.is_large_string(found.type)
        return found if plain or text else held(found)


def column_of(array: pa.Array, strings: pa.Array) -> SlotColumn:
    """The column of an array of values; `strings` are those of the index."""
    return _ranked([_column(array)], strings)[0]


def keys_of(values: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The keys of the values of a column, int64 [rows]."""
    return float_keys(values) if values.dtype == np.float64 else values  # type: ignore[arg-type, return-value]


def packed_bits(present: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    """The bits of a column whose first row has the first bit."""
    bits = np.packbits(present, bitorder="little")
    return np.concatenate([bits, np.zeros(_BITS_PADDING, np.uint8)])


def absent(rows: int) -> SlotColumn:
    """A column without values."""
    return SlotColumn(np.zeros(rows, np.int64), np.zeros(rows // 8 + 1 + _BITS_PADDING, np.uint8))


def _open_part(array: pa.StructArray, attribute: Attribute) -> pa.Array:
    """The part of an undeclared attribute that has a type; for `any` whether it is there."""
    parts = array.flatten()
    if attribute.type in _OPEN_PARTS:
        return parts[_OPEN_PARTS[attribute.type]]
    there = pc.or_(pc.or_(pc.is_valid(parts[0]), pc.is_valid(parts[1])), pc.is_valid(parts[2]))
    return pc.if_else(there, True, pa.scalar(None, pa.bool_()))


def _column(array: pa.Array) -> SlotColumn:
    """The column of an array; a column of strings still lacks its keys."""
    bits, first = _bits(array)
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        if len(array) <= len(_PLACES) and not array.null_count:  # coding so few takes longer
            places = _PLACES[: len(array)]
            return SlotColumn(places, bits, first, array.cast(pa.large_string()), places)
        coded = array.dictionary_encode()
        texts = coded.dictionary.cast(pa.large_string())
        codes = filled(coded.indices, 0).astype(np.int64)
        return SlotColumn(codes, bits, first, texts, codes)
    array = array.cast(pa.int64()) if pa.types.is_boolean(array.type) else held(array)
    kind: Any = np.float64 if pa.types.is_floating(array.type) else np.int64
    whole = np.frombuffer(array.buffers()[1], kind, array.offset + len(array))
    return SlotColumn(whole[array.offset :], bits, first)


def _ranked(columns: list[SlotColumn], strings: pa.Array) -> list[SlotColumn]:
    """The columns with the keys of their strings, which are looked up all at once."""
    texts = [column.texts for column in columns if column.texts is not None]
    if not texts:
        return columns
    keys = string_keys(pa.concat_arrays(texts), strings)
    start, found = 0, []
    for column in columns:
        if column.texts is not None and column.codes is not None:
            own = keys[start : start + len(column.texts)]
            start += len(own)
            column = replace(column, values=own[column.codes] if len(own) else column.codes)
        found.append(column)
    return found


def _bits(array: pa.Array) -> tuple[npt.NDArray[np.uint8], int]:
    """The bits of the values that are there, and where they begin."""
    if not array.null_count:
        return _ALL_THERE, 0
    skipped, first = divmod(array.offset, 8)
    whole = np.frombuffer(array.buffers()[0], np.uint8)
    used = whole[skipped : (array.offset + len(array) + 7) // 8]
    return np.concatenate([used, np.zeros(_BITS_PADDING, np.uint8)]), first


def string_keys(texts: pa.Array, strings: pa.Array) -> npt.NDArray[np.int64]:
    """The keys of strings: twice the number of smaller strings of the index, plus one if known."""
    if not len(strings) or not len(texts):
        return np.zeros(len(texts), np.int64)
    if _SEARCH_FACTOR * len(texts) < len(strings):
        return _searched(texts, strings)
    there = filled(pc.index_in(texts, strings), -1).astype(np.int64)
    keys = 2 * there + 1
    strange = np.flatnonzero(there < 0)
    if len(strange):
        keys[strange] = 2 * _smaller(texts.take(array_of(strange)), strings)
    return keys


def _searched(texts: pa.Array, strings: pa.Array) -> npt.NDArray[np.int64]:
    """The keys of a few strings, each searched for among many, in the order of their bytes."""
    known = StringBytes(strings)
    keys = np.empty(len(texts), np.int64)
    for place, text in enumerate(StringBytes(texts)):
        below = bisect_left(known, text)
        keys[place] = 2 * below + (below < len(known) and known[below] == text)
    return keys


class StringBytes(Sequence[bytes]):
    """The bytes of strings, which order as the strings do, without an object each."""

    def __init__(self, strings: pa.Array) -> None:
        _, offsets, data = strings.buffers()
        self._data = memoryview(b"" if data is None else data)
        self._ends = np.frombuffer(offsets or b"", np.int64)[strings.offset :]
        self._count = len(strings)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        if place >= self._count:
            raise IndexError(place)
        return bytes(self._data[self._ends[place] : self._ends[place + 1]])


def _smaller(texts: pa.Array, strings: pa.Array) -> npt.NDArray[np.int64]:
    """How many of the sorted strings are smaller than each text, none of which is among them."""
    both = pa.chunked_array([strings, texts]).combine_chunks()
    order = values_of(pc.array_sort_indices(both)).astype(np.int64)
    own = order < len(strings)
    before = np.cumsum(own)
    counts = np.empty(len(both), np.int64)
    counts[order] = before
    return counts[len(strings) :]

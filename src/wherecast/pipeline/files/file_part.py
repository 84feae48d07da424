"""What a file of publications gives: its rows in parts, typed, with their numbers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.model import Schema
from wherecast.pipeline.stages.batch_stages import RejectedRow, Validated

PART_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class RowsPart:
    """A run of rows.

    Attributes:
        batch: the rows that could be read, with all their columns.
        rows: their numbers in the file, from 0; int64, ascending, shape (batch.num_rows,).
        dead_letters: the rows that could not be read, by their numbers in the file.
    """

    batch: pa.RecordBatch
    rows: npt.NDArray[np.int64]
    dead_letters: tuple[RejectedRow, ...] = ()


class PublicationFile(Protocol):
    """A file of publications, which can be read again and again."""

    @property
    def schema(self) -> Schema:
        """What filters can name, and what rows must keep."""

    @property
    def columns(self) -> pa.Schema:
        """The columns of every part."""

    def parts(self) -> Iterator[RowsPart]:
        """The rows, from the first to the last."""


def moved(batch: pa.RecordBatch, valid: Validated, start: int) -> RowsPart:
    """The part of rows that were read from `start` on; `batch` holds the good ones."""
    letters = tuple(replace(letter, row=letter.row + start) for letter in valid.dead_letters)
    return RowsPart(batch, valid.rows + start, letters)

"""Files of publications as readers see them: typed rows in parts, with their numbers."""

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
    """Successive rows of a file.

    Attributes:
        batch: the readable rows, with all their columns.
        rows: the numbers of these rows in the file, from 0; int64, ascending, one per row.
        dead_letters: the rows that could not be read, by their numbers in the file.
    """

    batch: pa.RecordBatch
    rows: npt.NDArray[np.int64]
    dead_letters: tuple[RejectedRow, ...] = ()


class PublicationFile(Protocol):
    """A file of publications that can be read any number of times."""

    @property
    def schema(self) -> Schema:
        """The schema of the rows: the attributes that filters can name."""

    @property
    def columns(self) -> pa.Schema:
        """The columns of every part."""

    def parts(self) -> Iterator[RowsPart]:
        """The rows, from the first to the last."""


def part_at(batch: pa.RecordBatch, valid: Validated, start: int) -> RowsPart:
    """The part whose first row has the number `start`; `batch` holds its good rows."""
    letters = tuple(replace(letter, row=letter.row + start) for letter in valid.dead_letters)
    return RowsPart(batch, valid.rows + start, letters)

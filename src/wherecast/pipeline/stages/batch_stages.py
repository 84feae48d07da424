"""The stages: plain functions over record batches, with one frozen type per hop.

validate: rows → the good ones, and a dead letter per bad one
match:    good rows and an index → matches
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.columns import Decoded, Rejection, read_arrow
from wherecast.matching import Matches
from wherecast.model import Schema


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that its schema refuses, with every problem it has.

    Attributes:
        row: its number in the input, from 0.
        problems: at least one.
    """

    row: int
    problems: tuple[Rejection, ...]

    @property
    def reason(self) -> str:
        """All problems in one sentence."""
        return "; ".join(problem.message for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Validated:
    """The rows of a batch, told apart.

    Attributes:
        batch: the good rows, with a column per attribute.
        rows: where each good row stood in the input; int64, shape (batch.num_rows,).
        dead_letters: the bad rows, in order.
    """

    batch: pa.RecordBatch
    rows: npt.NDArray[np.int64]
    dead_letters: tuple[RejectedRow, ...]


def validate(batch: pa.RecordBatch, schema: Schema, strict: bool = True) -> Validated:
    """The rows of a batch that keep the schema, and a dead letter for each other one.

    Columns that the schema does not name are left out. Where it is not strict, every row is good.

    Raises:
        SchemaError: a column cannot be the attribute of its name.
    """
    return validated(read_arrow(batch, schema, strict))


def validated(decoded: Decoded) -> Validated:
    """What any reader of `wherecast.columns` gives, as the result of this stage."""
    return Validated(decoded.batch, decoded.rows, tuple(_dead_letters(decoded.rejected)))


def _dead_letters(rejected: tuple[Rejection, ...]) -> Iterator[RejectedRow]:
    for row, problems in groupby(rejected, key=lambda rejection: rejection.row):
        yield RejectedRow(row, tuple(problems))


class Matcher(Protocol):
    """Filters that can be matched against valid rows."""

    def match(self, batch: pa.RecordBatch) -> Matches:
        """The filters that are true on each row."""


def match(valid: Validated, matcher: Matcher) -> Matches:
    """The filters that each good row satisfies, in the order of `valid.rows`."""
    return matcher.match(valid.batch)

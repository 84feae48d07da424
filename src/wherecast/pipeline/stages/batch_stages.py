"""The stages: plain functions over record batches, with one frozen type per hop.

validate: rows → the good ones, and a dead letter per bad one
match:    good rows and an index → matches
notify:   matches and subscriptions → notifications grouped by subscriber
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
class DeadLetter:
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
    dead_letters: tuple[DeadLetter, ...]


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


def _dead_letters(rejected: tuple[Rejection, ...]) -> Iterator[DeadLetter]:
    for row, problems in groupby(rejected, key=lambda rejection: rejection.row):
        yield DeadLetter(row, tuple(problems))


class Matcher(Protocol):
    """Filters that can be matched against valid rows."""

    def match(self, batch: pa.RecordBatch) -> Matches:
        """The filters that are true on each row."""


def match(valid: Validated, matcher: Matcher) -> Matches:
    """The filters that each good row satisfies, in the order of `valid.rows`."""
    return matcher.match(valid.batch)


NOTIFICATIONS = pa.schema(
    [
        ("subscriber", pa.string()),
        ("publication", pa.int64()),
        ("subscription_ids", pa.list_(pa.string())),
    ]
)


def notify(
    matches: Matches, publications: npt.NDArray[np.int64], subscriptions: pa.RecordBatch
) -> pa.RecordBatch:
    """The notifications of a batch, sorted by subscriber and publication.

    A subscriber gets a publication once, however many of its subscriptions match.

    Args:
        matches: with the rows of `subscriptions` as numbers.
        publications: the number of each matched publication; int64, shape (len(matches),).
        subscriptions: the columns `subscriber` and `subscription_id`, sorted by both.

    Returns:
        A batch with the columns of `NOTIFICATIONS`.
    """
    names = subscriptions.column("subscriber").dictionary_encode()
    ids = subscriptions.column("subscription_id")
    rows = np.repeat(np.arange(len(matches)), matches.counts)
    places = matches.indices[np.lexsort((matches.indices, rows))]
    owners = names.indices.to_numpy()[places]
    starts_new = np.ones(len(places), np.bool_)
    starts_new[1:] = (np.diff(rows) != 0) | (np.diff(owners) != 0)
    starts = np.flatnonzero(starts_new)
    bounds = pa.array(np.append(starts, len(places)), pa.int32())
    order = pa.array(np.lexsort((publications[rows[starts]], owners[starts])))
    columns = [
        names.dictionary.take(pa.array(owners[starts])),
        pa.array(publications[rows[starts]], pa.int64()),
        pa.ListArray.from_arrays(bounds, ids.take(pa.array(places))),
    ]
    return pa.RecordBatch.from_arrays(
        [column.take(order) for column in columns], schema=NOTIFICATIONS
    )

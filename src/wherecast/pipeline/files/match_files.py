"""Files of publications matched against files of filters, by either runner.

This module validates the rows, the runner matches them, and this module joins the matches with all
columns of the rows. Only the attributes that the filters name go to the runner, and only pairs of
numbers come back.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.columns.arrow_schema import arrow_type, open_field
from wherecast.matching import Matches
from wherecast.model import ConfigError
from wherecast.model.times import current_micros
from wherecast.pipeline.files import PublicationFile, RowsPart, open_output
from wherecast.pipeline.filters.loaded_filters import LoadedFilters
from wherecast.pipeline.stages.batch_stages import RejectedRow, Validated, validate
from wherecast.pipeline.stages.batch_task import FilterSource, PairTask, Task
from wherecast.pipeline.stages.result_columns import JoinPlan, join

Runner = Callable[[Task, Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]
_LETTERS_MAX = 3
_ID = "filter_id"


@dataclass(slots=True)
class Tally:
    """The counts of a run so far.

    Attributes:
        publications: number of publications, refused ones included.
        matches: number of matches that were written.
        refused: number of publications that the schema refused, or that could not be read.
        dead_letters: the first refused publications.
    """

    publications: int = 0
    matches: int = 0
    refused: int = 0
    dead_letters: list[RejectedRow] = field(default_factory=list)

    def add(self, part: RowsPart, bad: Iterable[RejectedRow]) -> None:
        """Counts a part and its bad rows."""
        letters = sorted(bad, key=lambda letter: letter.row)
        self.publications += part.batch.num_rows + len(part.dead_letters)
        self.refused += len(letters)
        self.dead_letters += letters[: _LETTERS_MAX - len(self.dead_letters)]


def match_files(
    publications: PublicationFile,
    source: FilterSource,
    output: Path,
    runner: Runner,
    tally: Tally,
    now: int | None = None,
) -> None:
    """Writes a row per match: the columns of the publication and `filter_id`, in file order.

    Args:
        publications: the file to read.
        source: the filters; must be picklable if the runner sends tasks to other processes.
        output: the file to write.
        runner: the function that matches batches.
        tally: the counts to update: publications, matches and refused publications.
        now: the value of `now()`, in microseconds since 1970; by default the time of the call.

    Raises:
        ConfigError: the publications already have a column `filter_id`.
    """
    if _ID in publications.columns.names:
        raise ConfigError(f"the publications have a column {_ID} already; rename it first")
    filters = source.load()
    columns = publications.columns.append(pa.field(_ID, filters.ids.type))
    task = PairTask(source, _needed_columns(filters), current_micros() if now is None else now)
    pairs = iter(runner(task, _attributes(publications, task, tally)))
    with open_output(output, columns) as out:
        for part, rows, places in _align(publications.parts(), pairs):
            for batch in _join(part, rows, places, filters, columns):
                out.write(batch)
                tally.matches += batch.num_rows


def _needed_columns(filters: LoadedFilters) -> pa.Schema:
    """The columns of the attributes that the filters name."""
    return pa.schema(
        [
            pa.field(a.name, arrow_type(a)) if a.name in filters.schema else open_field(a.name)
            for a in filters.named
        ]
    )


def _attributes(
    publications: PublicationFile, task: PairTask, tally: Tally
) -> Iterator[pa.RecordBatch]:
    """The good rows of each part: their numbers and the attributes that the filters name."""
    for part in publications.parts():
        valid = validate(part.batch, publications.schema)
        bad = (RejectedRow(int(part.rows[d.row]), d.problems) for d in valid.dead_letters)
        tally.add(part, [*part.dead_letters, *bad])
        there = dict(zip(valid.batch.schema.names, valid.batch.columns, strict=True))
        arrays = [there.get(f.name, pa.nulls(valid.batch.num_rows, f.type)) for f in task.columns]
        numbers = pa.array(part.rows[valid.rows], pa.int64())
        names = ["row", *(f"attribute {place}" for place in range(len(arrays)))]
        yield pa.RecordBatch.from_arrays([numbers, *arrays], names)


_Numbers = npt.NDArray[np.int64]


def _align(
    parts: Iterator[RowsPart], pairs: Iterator[pa.RecordBatch]
) -> Iterator[tuple[RowsPart, _Numbers, _Numbers]]:
    """Each part with its pairs: row numbers in the file, ascending, and positions of filters."""
    rows = places = np.zeros(0, np.int64)
    for part in parts:
        end = int(part.rows[-1]) if len(part.rows) else -1
        while not len(rows) or rows[-1] <= end:
            batch = next(pairs, None)
            if batch is None:
                break
            rows = np.concatenate([rows, batch.column(0).to_numpy()])
            places = np.concatenate([places, batch.column(1).to_numpy()])
        cut = int(np.searchsorted(rows, end, side="right"))
        yield part, rows[:cut], places[:cut]
        rows, places = rows[cut:], places[cut:]


def _join(
    part: RowsPart,
    rows: _Numbers,
    places: _Numbers,
    filters: LoadedFilters,
    columns: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """The rows of the matches of a part: the publication's columns and the filter's id."""
    count = part.batch.num_rows
    counts = np.bincount(np.searchsorted(part.rows, rows), minlength=count)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    matches = Matches(offsets, places.astype(np.int32), range(len(filters)))
    whole = Validated(part.batch, np.arange(count, dtype=np.int64), ())
    for arrays in join(part.batch, whole, matches, filters, JoinPlan()):
        yield pa.RecordBatch.from_arrays(arrays, schema=columns)

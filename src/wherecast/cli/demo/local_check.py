"""The check of the demo: an index in this process must find the matches that Spark found."""

import numpy as np
import pyarrow as pa

from wherecast.cli.demo import air
from wherecast.cli.demo.eras import Era
from wherecast.cli.demo.micro_batches import MATCH_COLUMNS, ShownBatch, sorted_matches
from wherecast.matching import Index
from wherecast.pipeline.stages.batch_stages import validate


class LocalCheck:
    """An index over the subscriptions of an era."""

    def __init__(self, era: Era) -> None:
        self._version = era.version
        self._subscriptions = list(era.subscriptions.values())
        self._index = Index(air.schema())
        self._index.add_all(enumerate(s.filter for s in self._subscriptions))

    def matches(self, readings: pa.Table) -> pa.Table:
        """The matches of numbered readings, in the form of `ShownBatch.matches`."""
        [batch] = readings.combine_chunks().to_batches()
        valid = validate(batch, air.schema())
        found = self._index.match(valid.batch)
        numbers = batch.column("number").to_numpy()[valid.rows]
        matched = [self._subscriptions[int(place)] for row in found.to_pylist() for place in row]
        columns = [
            pa.array(np.repeat(numbers, found.counts)),
            pa.array([s.subscriber for s in matched], pa.string()),
            pa.array([s.id for s in matched], pa.string()),
        ]
        return sorted_matches(pa.table(columns, schema=MATCH_COLUMNS))

    def need_same(self, batch: ShownBatch, readings: pa.Table) -> None:
        """Raises RuntimeError unless a micro-batch has this version and the right matches."""
        if batch.version != self._version:
            raise RuntimeError(
                f"micro-batch {batch.number} used version {batch.version} of the filters, and"
                f" {self._version} was the newest when it began"
            )
        expected = self.matches(readings)
        if not batch.matches.equals(expected):
            raise RuntimeError(
                f"in micro-batch {batch.number} Spark found {batch.matches.num_rows} matches, this"
                f" process {expected.num_rows}, and they differ"
            )

"""The inline runner: the stages in this process, one batch after the other."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from wherecast.pipeline.stages.batch_task import Task


def run(task: Task, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The results of all batches, as they come."""
    for batch in batches:
        yield from task(batch)

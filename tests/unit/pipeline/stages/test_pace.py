"""How many publications are matched at once."""

import numpy as np
import pyarrow as pa

from wherecast import Schema
from wherecast.pipeline.filters.loaded_filters import compile_filters
from wherecast.pipeline.stages import pace
from wherecast.pipeline.stages.batch_task import JoinTask
from wherecast.pipeline.stages.pace import Pace, paced
from wherecast.pipeline.stages.result_columns import JoinPlan


def test_steps_follow_the_matches_that_were_seen() -> None:
    rows = pa.record_batch([pa.array(np.arange(10_000))], ["n"])
    steps = Pace()

    sizes = []
    for step in paced(rows, steps):
        sizes.append(step.num_rows)
        steps.note(step.num_rows, 100_000 * step.num_rows)

    assert sum(sizes) == 10_000
    assert sizes[0] <= 64  # nothing was known
    assert max(sizes[1:]) * 100_000 <= pace._MATCHES_MAX


def test_few_matches_make_one_step_of_a_batch() -> None:
    rows = pa.record_batch([pa.array(np.arange(10_000))], ["n"])
    steps = Pace()
    steps.note(64, 64 * 131)

    assert [step.num_rows for step in paced(rows, steps)] == [10_000]
    assert [step.num_rows for step in paced(rows.slice(0, 0), steps)] == [0]


def test_where_everything_matches_little_is_held_at_once() -> None:
    schema = Schema.from_dict({"n": "int"})
    table = pa.table({"id": np.arange(2_000), "filter": ["n >= 0"] * 2_000})
    filters, _ = compile_filters(table, schema)
    task = JoinTask(filters, JoinPlan("left", "arrays"), ("filter_ids",), carried=False)
    batch = pa.record_batch([pa.array(np.arange(20_000))], ["n"])

    sizes = [(part.num_rows, len(part.column(0).values)) for part in task(batch)]

    assert sum(rows for rows, _ in sizes) == 20_000
    assert sum(matches for _, matches in sizes) == 20_000 * 2_000
    assert max(matches for _, matches in sizes) <= 1 << 20

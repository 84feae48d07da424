"""Sorted runs of rows as one."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa


def merged(runs: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """The rows of all runs, sorted by their first two columns; one batch per run is held.

    Args:
        runs: each sorted by its first column, a number, and then by its second. Rows with the
            same number are in one run.
    """
    heads: dict[int, pa.Table] = {}
    empty = set(range(len(runs)))
    while True:
        for number in empty:
            batch = next((batch for batch in runs[number] if batch.num_rows), None)
            if batch is not None:
                heads[number] = pa.Table.from_batches([batch])
        if not heads:
            return
        # No row that is still to come is below the first end of a head.
        end = min(head.column(0)[-1].as_py() for head in heads.values())
        taken = []
        for number, head in heads.items():
            cut = int(np.searchsorted(head.column(0).to_numpy(), end, side="right"))
            taken.append(head.slice(0, cut))
            heads[number] = head.slice(cut)
        empty = {number for number, head in heads.items() if not head.num_rows}
        heads = {number: head for number, head in heads.items() if head.num_rows}
        order = [(name, "ascending") for name in taken[0].column_names[:2]]
        yield from pa.concat_tables(taken).sort_by(order).to_batches()

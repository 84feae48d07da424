"""Record batches of a schema, from JSON, NDJSON, Python rows, Arrow, pandas and Polars.

Every reader gives a `Decoded`: the good rows as one record batch, where they stood in the
input, and a verdict for each problem of each bad row. A bad row never costs a good one.

- `schema`: the Arrow schema of a batch.
- `decoded`: what a reader gives.
- `json` (with `outline`) and `rows`: publications as text and as Python mappings.
- `arrow` (with `sources` and `casts`): tables and data frames.
- `values` and `domains`: one column at a time, typed and inside its declared domain.
"""

from wherecast.columns.arrow import read_arrow
from wherecast.columns.arrow_schema import arrow_schema
from wherecast.columns.decoded import Decoded, Rejection
from wherecast.columns.json import decode_json, decode_ndjson
from wherecast.columns.rows import decode_rows, rows_of

__all__ = [
    "Decoded",
    "Rejection",
    "arrow_schema",
    "decode_json",
    "decode_ndjson",
    "decode_rows",
    "read_arrow",
    "rows_of",
]

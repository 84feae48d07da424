"""Record batches of a schema, from JSON, NDJSON, Python rows, Arrow, pandas and Polars.

Every reader returns a `Decoded`: the good rows as one record batch, the numbers of these rows in
the input, and a rejection for each problem of each bad row. A bad row never costs a good one.

- `arrow_schema`: the Arrow schema of a batch.
- `decoded`: the result of a reader.
- `json` (with `json_outline`, `unreadable`) and `rows`: publications as text and as mappings.
- `arrow` (with `sources`, `casts`, `decimal_columns` and `time_columns`): tables and data frames.
- `value_columns` and `domains`: the values of one column, converted and checked.
- `array_columns`: columns of arrays, from Python values and from Arrow lists.
- `comparable`: columns as batches hold them, and as filters compare them.
- `log_encoding`: batches as bytes for a log.
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

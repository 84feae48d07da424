"""Publications, filters and matches in files: .jsonl, .parquet or .csv, by suffix.

- `publications` (with `jsonl`, `csv`, `parquet` and `infer`): files to record batches.
- `filters`: files to a table of ids and filters.
- `outputs`: record batches to files.
"""

from wherecast.pipeline.files.filters import read_filters
from wherecast.pipeline.files.outputs import open_output
from wherecast.pipeline.files.part import Part, PublicationFile
from wherecast.pipeline.files.publications import open_publications

__all__ = ["Part", "PublicationFile", "open_output", "open_publications", "read_filters"]

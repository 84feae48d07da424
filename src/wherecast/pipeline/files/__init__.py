"""Publications, filters and matches in files: .jsonl, .parquet or .csv, by suffix.

- `publications` (with `jsonl`, `csv`, `parquet` and `infer`): files to record batches.
- `filters`: files to a table of ids and filters.
- `outputs`: record batches to files.
"""

from wherecast.pipeline.files.file_part import PublicationFile, RowsPart
from wherecast.pipeline.files.filter_files import read_filters
from wherecast.pipeline.files.output_files import open_output
from wherecast.pipeline.files.publication_files import open_publications

__all__ = ["PublicationFile", "RowsPart", "open_output", "open_publications", "read_filters"]

"""Publications, filters and matches in files: .jsonl, .parquet or .csv, by suffix.

- `publication_files` (with `read_jsonl`, `read_csv`, `read_parquet` and `infer_types`): files to
  record batches.
- `filter_files`: files of filters.
- `output_files`: record batches to files.
- `match_files`: files of publications matched against files of filters.
"""

from wherecast.pipeline.files.file_part import PublicationFile, RowsPart
from wherecast.pipeline.files.filter_files import read_filters
from wherecast.pipeline.files.output_files import open_output
from wherecast.pipeline.files.publication_files import open_publications

__all__ = ["PublicationFile", "RowsPart", "open_output", "open_publications", "read_filters"]

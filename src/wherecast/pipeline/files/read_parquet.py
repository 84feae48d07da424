"""Publications as Parquet; columns keep the types of the file."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from wherecast.model import ConfigError, Schema
from wherecast.pipeline.files.file_part import PART_ROWS, RowsPart
from wherecast.pipeline.stages.batch_stages import validate


class ParquetFile:
    """A Parquet file; without a schema, each column is an attribute."""

    def __init__(
        self, path: Path, schema: Schema | None = None, part_rows: int = PART_ROWS
    ) -> None:
        self._path = path
        self._part_rows = part_rows
        self.columns = read_parquet_schema(path)
        self.schema = Schema.from_arrow(self.columns) if schema is None else schema
        validate(pa.RecordBatch.from_pylist([], schema=self.columns), self.schema)

    def parts(self) -> Iterator[RowsPart]:
        """The rows, from the first to the last."""
        start = 0
        with pq.ParquetFile(self._path) as file:
            for batch in file.iter_batches(self._part_rows):
                rows = np.arange(start, start + batch.num_rows, dtype=np.int64)
                yield RowsPart(batch, rows)
                start += batch.num_rows


def read_parquet_schema(path: Path) -> pa.Schema:
    """The columns of a Parquet file.

    Raises:
        ConfigError: the file is not Parquet.
    """
    try:
        return pq.read_schema(path)
    except pa.ArrowException as error:
        raise ConfigError(f"{path} cannot be read as Parquet: {error}") from None

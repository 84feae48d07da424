"""Files of publications, by suffix."""

from pathlib import Path

from wherecast.model import ConfigError, Schema
from wherecast.pipeline.files.file_part import PART_ROWS, PublicationFile
from wherecast.pipeline.files.read_csv import CsvFile
from wherecast.pipeline.files.read_jsonl import JsonLinesFile
from wherecast.pipeline.files.read_parquet import ParquetFile

SUFFIXES = (".jsonl", ".parquet", ".csv")


def open_publications(
    path: Path, schema: Schema | None = None, part_rows: int = PART_ROWS
) -> PublicationFile:
    """The publications of a file.

    Args:
        path: the file.
        schema: the schema of the rows. Without it, Parquet columns keep their types, and the types
            of other files are inferred.
        part_rows: the largest number of rows of a part.

    Raises:
        ConfigError: the file does not exist, or its suffix is unknown.
        SchemaError: the type of a column does not fit its attribute.
    """
    suffix = known_suffix(path)
    need_file(path)
    if suffix == ".jsonl":
        return JsonLinesFile(path, schema, part_rows)
    if suffix == ".csv":
        return CsvFile(path, schema, part_rows)
    return ParquetFile(path, schema, part_rows)


def known_suffix(path: Path) -> str:
    """The suffix of a path; raises ConfigError unless files of this suffix are supported."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}")
    return suffix


def need_file(path: Path) -> None:
    """Raises ConfigError unless the path is a file."""
    if not path.exists():
        raise ConfigError(f"{path}: there is no such file")
    if not path.is_file():
        raise ConfigError(f"{path} is not a file")

"""Files of publications, by suffix."""

from pathlib import Path

from wherecast.model import ConfigError, Schema
from wherecast.pipeline.files.file_part import PublicationFile
from wherecast.pipeline.files.read_csv import CsvFile
from wherecast.pipeline.files.read_jsonl import JsonLinesFile
from wherecast.pipeline.files.read_parquet import ParquetFile

SUFFIXES = (".jsonl", ".parquet", ".csv")


def open_publications(path: Path, schema: Schema | None = None) -> PublicationFile:
    """The publications of a file; without a schema, types are those of the columns or inferred.

    Raises:
        ConfigError: there is no such file, or its suffix is unknown.
        SchemaError: its columns cannot be the attributes of the schema.
    """
    suffix = known_suffix(path)
    need_file(path)
    if suffix == ".jsonl":
        return JsonLinesFile(path, schema)
    if suffix == ".csv":
        return CsvFile(path, schema)
    return ParquetFile(path, schema)


def known_suffix(path: Path) -> str:
    """The suffix of a file that can be read and written."""
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

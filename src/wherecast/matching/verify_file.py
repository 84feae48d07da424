"""Verifies the file of an index in full: every byte, then that the parts fit together."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wherecast.matching.columnar.run_arrays import run_from_arrays
from wherecast.matching.index_file import FilePart, checked_parts, map_file, map_header
from wherecast.matching.kinds import load_engine
from wherecast.model import SnapshotError


@dataclass(frozen=True, slots=True)
class FileFigures:
    """The header of a file of an index.

    Attributes:
        format: the format of the file.
        content_id: the digest of the filters, their ids and the schema.
        filters: the number of filters.
        arrays: the number of arrays.
        bytes: the size of the file.
    """

    format: int
    content_id: str
    filters: int
    arrays: int
    bytes: int


def file_figures(path: Path) -> FileFigures:
    """The figures in the header of a file; reads no array.

    Raises:
        SnapshotError: the file is missing, of a newer format, or its header is damaged.
    """
    mapped = map_header(path)
    arrays = mapped.figures["arrays"]
    filters = mapped.figures.get("filters")
    if filters is None:  # of kind columnar
        filters = arrays["table.conjunction_offsets"][1][0] - 1
    return FileFigures(mapped.format, mapped.content_id, filters, len(arrays), len(mapped.raw))


def check_file(path: Path) -> Iterator[FilePart]:
    """Every part of a file, compared with what was written, then whether the parts fit together.

    Raises:
        SnapshotError: the file cannot be mapped, or its parts are not those of an index.
    """
    intact = True
    for part in checked_parts(path):
        intact &= part.intact
        yield part
    if intact:
        _check_fit(path)


def _check_fit(path: Path) -> None:
    """Raises `SnapshotError` where the parts, each as it was written, are not those of an index."""
    figures, arrays, _ = map_file(path)
    try:
        if "kind" in figures:  # of trees, which are read as a whole
            load_engine(path)
            return
        run, _ = run_from_arrays(figures, arrays)
        run.ids.array.validate(full=True)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise SnapshotError(f"{path}: its arrays are not those of an index: {error}") from None
    snapshot = run.snapshot
    fit = len(snapshot.filters) == len(snapshot.plain.offsets) - 1
    if not fit or len(run.ids) != len(snapshot.table):
        raise SnapshotError(f"{path}: its arrays do not fit together")

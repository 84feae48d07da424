"""Verifies the file of an index in full: every byte, then that the parts fit together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wherecast.matching.columnar.run_arrays import put_together
from wherecast.matching.index_file import FilePart, map_file, map_header, verified
from wherecast.model import SnapshotError


@dataclass(frozen=True, slots=True)
class FileFigures:
    """What the header of a file says.

    Attributes:
        format: the format of the file.
        content_id: the digest of everything in it.
        filters: how many filters it holds.
        arrays: how many arrays it is made of.
        bytes: its size.
    """

    format: int
    content_id: str
    filters: int
    arrays: int
    bytes: int


def file_figures(path: Path) -> FileFigures:
    """What the header of a file says; reads no array.

    Raises:
        SnapshotError: it is missing, of a newer format, or its header is damaged.
    """
    mapped = map_header(path)
    arrays = mapped.figures["arrays"]
    filters = mapped.figures.get("filters")
    if filters is None:  # of kind columnar
        filters = arrays["table.conjunction_offsets"][1][0] - 1
    return FileFigures(mapped.format, mapped.content_id, filters, len(arrays), len(mapped.raw))


def check_file(path: Path, load_index: Callable[[Path], object]) -> Iterator[FilePart]:
    """Every part of a file, compared with what was written, then whether they fit together.

    Args:
        path: of the file.
        load_index: what reads an index of any kind.

    Raises:
        SnapshotError: the file cannot be mapped, or what was written is no index.
    """
    intact = True
    for part in verified(path):
        intact &= part.intact
        yield part
    if intact:
        _fit(path, load_index)


def _fit(path: Path, load_index: Callable[[Path], object]) -> None:
    """Raises where the parts, each as it was written, are not those of an index."""
    figures, arrays, _ = map_file(path)
    try:
        if "kind" in figures:  # of trees, which are read as a whole
            load_index(path)
            return
        run, _ = put_together(figures, arrays)
        run.ids.array.validate(full=True)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise SnapshotError(f"{path}: its arrays are not those of an index: {error}") from None
    snapshot = run.snapshot
    fit = len(snapshot.filters) == len(snapshot.plain.offsets) - 1
    if not fit or len(run.ids) != len(snapshot.table):
        raise SnapshotError(f"{path}: its arrays do not fit together")

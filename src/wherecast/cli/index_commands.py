"""`wherecast index`: checks the file of an index."""

from dataclasses import asdict
from pathlib import Path

import orjson

from wherecast.cli import screen
from wherecast.matching.verify_file import FileFigures, check_file, file_figures


def run_check(path: Path, as_json: bool) -> bool:
    """Verifies the file of an index, byte by byte; returns whether it is intact.

    Raises:
        SnapshotError: the file is missing, cut off, of a newer format, or not an index.
    """
    figures = file_figures(path)
    read, damaged = 0, []
    with screen.progress("Checking", lambda _: f"{read:,} of {figures.bytes:,} bytes"):
        for part in check_file(path):
            read += part.nbytes
            if not part.intact:
                damaged.append(part.name)
    print(_as_json(path, figures, damaged) if as_json else _as_lines(path, figures, damaged))
    return not damaged


def _as_lines(path: Path, figures: FileFigures, damaged: list[str]) -> str:
    verdict = f"Damaged: {', '.join(damaged)}" if damaged else "Everything is as it was written."
    return (
        f"{path}: {screen.count(figures.filters, 'filter')}, {figures.bytes:,} bytes,"
        f" format {figures.format}\ncontent id {figures.content_id}\n{verdict}"
    )


def _as_json(path: Path, figures: FileFigures, damaged: list[str]) -> str:
    report = {"path": str(path), **asdict(figures), "intact": not damaged, "damaged": damaged}
    return orjson.dumps(report).decode()

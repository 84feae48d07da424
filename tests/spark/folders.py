"""What a reader sees in a folder of Parquet files."""

from pathlib import Path


def shown_files(folder: Path) -> list[Path]:
    """The files that Spark reads: it skips names that begin with `_` or a dot."""
    return sorted(path for path in folder.rglob("*.parquet") if _is_shown(path, folder))


def folders_of(folder: Path) -> set[str]:
    """The folders of partitions, relative to the folder."""
    return {str(path.parent.relative_to(folder)) for path in shown_files(folder)}


def _is_shown(path: Path, folder: Path) -> bool:
    return not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)

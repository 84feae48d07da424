"""The directory of compiled kernels, which later processes load.

Contract. `cache_directory` gives a directory for exactly this source code, this version of
Wherecast and this version of numba. It lies in the first of these parents where it can be written,
or where it is read-only but filled already:

1. `$WHERECAST_CACHE_DIR/kernels/`
2. `$NUMBA_CACHE_DIR/wherecast/kernels/`, or what the application set as `numba.config.CACHE_DIR`
3. `kernels/` in the further parents of `wherecast.cache_dirs`, which belong to this user alone

Where none can be used, it gives None, and each process compiles for itself. Nothing is written
beside the sources. Whoever can write to the directory can run code in this process. The directory
may be deleted at any time.

The name of the directory has the digest of all sources of the kernels and of the layouts that they
are compiled for. numba itself compares only the file of the compiled function, so it would keep
constants and functions that were compiled in from other files.
"""

from collections.abc import Iterator
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import numba

from wherecast import __version__
from wherecast.cache_dirs import cache_parents, can_write

_FOLDERS = (
    "columnar/kernels", "compile_cache", "trees/betree/kernels", "trees/forest/kernels",
)  # fmt: skip
_FILES = (
    "columnar/layout.py", "scatter_kernels.py", "trees/items.py", "trees/exact_kernels.py",
    "trees/key_slots.py", "trees/row_layout.py",
    "trees/betree/layout.py", "trees/forest/layout.py",
)  # fmt: skip


def source_digest() -> str:
    """The digest of all sources of the kernels, and of the layouts."""
    found = blake2b(digest_size=8)
    for name, file in sorted(_sources(), key=lambda source: source[0]):
        content = file.read_bytes()
        found.update(f"{name} {len(content)} ".encode() + content)
    return found.hexdigest()


def _sources() -> Iterator[tuple[str, Traversable]]:
    """The sources of compiled code, by their paths in the package `wherecast.matching`."""
    matching = files(__package__.rpartition(".")[0])
    for folder in _FOLDERS:
        for file in matching.joinpath(folder).iterdir():
            if file.name.endswith(".py"):
                yield f"{folder}/{file.name}", file
    for name in _FILES:
        yield name, matching.joinpath(name)


def cache_directory() -> Path | None:
    """The directory of compiled code, or None where no parent can be used."""
    name = f"{__version__}-numba{numba.__version__}-{source_digest()}"
    given = numba.config.CACHE_DIR
    for parent in cache_parents(*([Path(given).absolute() / "wherecast"] if given else [])):
        directory = parent / "kernels" / name
        if can_write(directory) or _is_filled(directory):
            return directory
    return None


def _is_filled(directory: Path) -> bool:
    """Whether the directory has compiled code, so that it need not be writable."""
    return any(directory.glob("*.nbi"))

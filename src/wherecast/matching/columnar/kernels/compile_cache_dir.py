"""Where compiled code is kept from one process to the next.

Contract. `place` gives a directory of its own for this code, made by this version of Wherecast and
numba: the first of these that can be written, or that is read-only but filled already.

1. `$WHERECAST_CACHE_DIR/kernels/`
2. `$NUMBA_CACHE_DIR/wherecast/kernels/`, or what the application set as `numba.config.CACHE_DIR`
3. `kernels/` in the further places of `wherecast.cache_dirs`, which belong to this user alone

Without any it gives None: each process compiles for itself. Nothing is written beside the sources.
Who can write there can run code here. All of it may be deleted at any time.

The directory's name has the digest of all sources of the kernels, and of the layout that they are
compiled for. numba compares one file only, the one that a function is in, and would keep what other
files put into it.
"""

from collections.abc import Iterator
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import numba

from wherecast import __version__
from wherecast.cache_dirs import cache_parents, can_write

_FOLDERS = ("columnar/kernels", "trees/betree/kernels", "trees/forest/kernels")
_FILES = (
    "columnar/layout.py", "trees/items.py", "trees/exact_kernels.py", "trees/key_slots.py",
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
    """The sources that compiled code is made of, by their paths in the package of matching."""
    matching = files(__package__.rpartition(".")[0].rpartition(".")[0])
    for folder in _FOLDERS:
        for file in matching.joinpath(folder).iterdir():
            if file.name.endswith(".py"):
                yield f"{folder}/{file.name}", file
    for name in _FILES:
        yield name, matching.joinpath(name)


def place() -> Path | None:
    """The directory for compiled code, or None where none can be used."""
    name = f"{__version__}-numba{numba.__version__}-{source_digest()}"
    given = numba.config.CACHE_DIR
    for parent in cache_parents(*([Path(given).absolute() / "wherecast"] if given else [])):
        directory = parent / "kernels" / name
        if can_write(directory) or _is_filled(directory):
            return directory
    return None


def _is_filled(directory: Path) -> bool:
    """Whether compiled code is there already, so that it need not be written."""
    return any(directory.glob("*.nbi"))

"""Where compiled code is kept from one process to the next.

Contract. `place` gives a directory of its own for this code, made by this version of Wherecast and
numba: the first of these that can be written, or that is read-only but filled already.

1. `$WHERECAST_CACHE_DIR/kernels/`
2. `$NUMBA_CACHE_DIR/wherecast/kernels/`, or what the application set as `numba.config.CACHE_DIR`
3. `wherecast/kernels/` where the user's caches are: `$XDG_CACHE_HOME` or `~/.cache`
4. `wherecast-<user id>/kernels/` among the temporary files

Without any it gives None: each process compiles for itself. Nothing is written beside the sources.
Who can write there can run code here, so the last two must belong to this user alone. All of it
may be deleted at any time.

The directory's name has the digest of all sources of the kernels, and of the layout that they are
compiled for. numba compares one file only, the one that a function is in, and would keep what other
files put into it.
"""

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path

import numba

from wherecast import __version__


def source_digest() -> str:
    """The digest of all sources of the kernels, and of the layout."""
    found = blake2b(digest_size=8)
    sources = [file for file in files(__package__).iterdir() if file.name.endswith(".py")]
    sources.append(files(__package__.rpartition(".")[0]) / "layout.py")
    for file in sorted(sources, key=lambda file: file.name):
        content = file.read_bytes()
        found.update(f"{file.name} {len(content)} ".encode() + content)
    return found.hexdigest()


def place() -> Path | None:
    """The directory for compiled code, or None where none can be used."""
    name = f"{__version__}-numba{numba.__version__}-{source_digest()}"
    for parent in _parents():
        if _is_usable(directory := parent / "kernels" / name):
            return directory
    return None


def _parents() -> Iterator[Path]:
    """The places to try, in turn."""
    if given := os.environ.get("WHERECAST_CACHE_DIR"):
        yield Path(given).absolute()
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR).absolute() / "wherecast"
    for own in (_in_caches, _in_temporary_files):
        try:
            directory = own()
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_own(directory):
                yield directory
        except (OSError, RuntimeError):  # no home, or it cannot be written
            continue


def _in_caches() -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(given):  # others are to be ignored, by the XDG specification
        return Path(given) / "wherecast"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "wherecast" / "cache"
    caches = ("Library", "Caches") if sys.platform == "darwin" else (".cache",)
    return Path.home().joinpath(*caches) / "wherecast"


def _in_temporary_files() -> Path:
    return Path(tempfile.gettempdir()) / f"wherecast-{_user()}"


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0  # Windows has places per user


def _is_own(directory: Path) -> bool:
    """Whether it is a directory, not a link, that nobody but this user can write."""
    status = directory.lstat()
    ours = status.st_uid == _user() and not status.st_mode & 0o022
    return stat.S_ISDIR(status.st_mode) and (ours or sys.platform == "win32")


def _is_usable(directory: Path) -> bool:
    """Whether compiled code can be written there, or is there already."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError:
        return any(directory.glob("*.nbi"))
    return True

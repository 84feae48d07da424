"""Where files that can be made again are kept from one process to the next.

Contract. `cache_parents` gives the directories to try, best first; each user of them has a folder
of its own in there, and takes the first that suits it.

1. `$WHERECAST_CACHE_DIR`
2. what the caller gives
3. `wherecast/` where the user's caches are: `$XDG_CACHE_HOME` or `~/.cache`
4. `wherecast-<user id>/` among the temporary files

Who can write there can change what runs here, so the last two must belong to this user alone. All
of it may be deleted at any time.
"""

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path


def cache_parents(*given: Path) -> Iterator[Path]:
    """The directories to try, in turn; `given` are those of the caller."""
    if named := os.environ.get("WHERECAST_CACHE_DIR"):
        yield Path(named).absolute()
    yield from given
    for own in (_in_caches, _in_temporary_files):
        try:
            directory = own()
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_own(directory):
                yield directory
        except (OSError, RuntimeError):  # no home, or it cannot be written
            continue


def can_write(directory: Path) -> bool:
    """Whether files can be made in a directory, which is made where it is missing."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError:
        return False
    return True


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

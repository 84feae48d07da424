"""Temporary files of a process that may be killed: its supervisor removes what it leaves.

Spark and the pipeline remove their temporary directories when they end by themselves, and leave
them where they are killed.
"""

import os
import shutil
import tempfile
from hashlib import blake2b
from pathlib import Path

from wherecast.cache_dirs import cache_parents

_JAVA_OPTIONS = "SPARK_SUBMIT_OPTS"  # Spark adds them to those of its Java process


class Scratch:
    """The directory for temporary files of one process after the other.

    One server at a time works on a store. So what is there before the first process starts was
    left by a server that was killed.

    Args:
        data: the directory of the store that the process works on.
    """

    def __init__(self, data: str) -> None:
        digest = blake2b(os.path.abspath(data).encode(), digest_size=8).hexdigest()
        self._prefix = f"wherecast-pipeline-{digest}-"

    def renew(self) -> dict[str, str]:
        """Makes a new directory in the place of earlier ones.

        Returns:
            The environment variables with which a process, and Java in it, uses the directory.
        """
        self.remove()
        directory = tempfile.mkdtemp(prefix=self._prefix)
        given = os.environ.get(_JAVA_OPTIONS, "")
        options = f"{given} -Djava.io.tmpdir={directory}".strip()
        return {"TMPDIR": directory, _JAVA_OPTIONS: options, **_cache_variable()}

    def remove(self) -> None:
        """Removes the directory with what is in it."""
        for directory in Path(tempfile.gettempdir()).glob(f"{self._prefix}*"):
            shutil.rmtree(directory, ignore_errors=True)


def _cache_variable() -> dict[str, str]:
    """Keeps caches where they are, also those that lie among the temporary files."""
    first = next(cache_parents(), None)
    if first is None or not first.is_relative_to(tempfile.gettempdir()):
        return {}
    return {"WHERECAST_CACHE_DIR": str(first)}

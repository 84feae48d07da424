"""The Java installation of Spark: finds the problem after Spark failed to start."""

import os
import re
import shutil
import subprocess

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_ANSWER_S = 20.0


def java_problem() -> str | None:
    """The problem of the Java that Spark would start, in one line; None if there is none."""
    needed = _needed()
    remedy = f"install Java {needed} or newer, or set JAVA_HOME to its directory"
    home = os.environ.get("JAVA_HOME")
    command = shutil.which(os.path.join(home, "bin", "java") if home else "java")
    if command is None:
        return f"there is no Java {f'in JAVA_HOME ({home})' if home else 'here'}; {remedy}"
    version = _version(command)
    if version is None:
        return f"{command} does not tell its version; {remedy}"
    if version < needed:
        return f"{command} is Java {version}, which is too old; {remedy}"
    return None


def _needed() -> int:
    """The oldest Java that the installed Spark runs on."""
    import pyspark

    return 17 if int(pyspark.__version__.partition(".")[0]) >= 4 else 8


def _version(command: str) -> int | None:
    try:
        said = subprocess.run(
            [command, "-version"], capture_output=True, text=True, timeout=_ANSWER_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(said.stderr + said.stdout)
    return None if found is None else int(found[1])

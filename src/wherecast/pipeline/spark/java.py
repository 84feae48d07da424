"""The Java that Spark starts: what is wrong with it, asked where Spark did not start."""

import os
import re
import shutil
import subprocess

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_ANSWER_S = 20.0


def java_problem() -> str | None:
    """What is wrong with the Java that Spark would start here; None where nothing is."""
    needed = _needed()
    remedy = f"install Java {needed} or newer, or set JAVA_HOME to where it is"
    home = os.environ.get("JAVA_HOME")
    command = shutil.which(os.path.join(home, "bin", "java") if home else "java")
    if command is None:
        return f"there is no Java {f'in JAVA_HOME ({home})' if home else 'here'}; {remedy}"
    version = _version(command)
    if version is None:
        return f"{command} does not say which Java it is; {remedy}"
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

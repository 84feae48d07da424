"""A `java` that tells its version, and does with any class what an old Java does with a new one."""

from pathlib import Path

_SCRIPT = """#!/bin/sh
if [ "$1" = -version ]; then
    echo 'openjdk version "{version}" 2024-01-16' >&2
    exit 0
fi
echo 'Error: A JNI error has occurred, please check your installation and try again' >&2
echo 'Exception in thread "main" java.lang.UnsupportedClassVersionError: org/x/Main' >&2
exit 1
"""


def fake_java(directory: Path, version: str) -> Path:
    """A home of Java below a directory, with that version in `bin/java`."""
    command = directory / f"java-{version}" / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(_SCRIPT.replace("{version}", version))
    command.chmod(0o755)
    return command.parent.parent

"""Environments without the repository: the built wheel, installed elsewhere."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def outside() -> dict[str, str]:
    """The variables of a process that must not see the repository."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}


def run(*command: str | Path, cwd: Path) -> str:
    """The standard output of a command that must succeed and must not see the repository."""
    done = subprocess.run(
        command, cwd=cwd, env=outside(), capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build_wheel(place: Path) -> Path:
    """The wheel, built into a directory."""
    build = ("-m", "build", "--wheel", "--no-isolation", "--outdir", place, ROOT)
    run(sys.executable, *build, cwd=place)
    (wheel,) = place.glob("wherecast-*.whl")
    return wheel


def install(wheel: Path, place: Path) -> None:
    """A new environment that holds a wheel and what the wheel asks for."""
    (place / "pins.txt").write_text(_pins())
    run(sys.executable, "-m", "venv", place / "env", cwd=place)
    pip = (place / "env/bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "install", "--constraint", place / "pins.txt", wheel, cwd=place)


def _pins() -> str:
    """The versions of the lock as constraints: pip takes no hashes beside a wheel without one."""
    lock = (ROOT / "requirements.lock").read_text()
    return "\n".join(re.findall(r"^[a-z0-9._-]+==[^\\\n]*", lock, re.MULTILINE))


def install_beside(wheel: Path | None, place: Path) -> Path:
    """The Python of a new environment with a wheel of its own, or none, and our other packages.

    Those are found where they are, since Spark takes long to install. Our own project is not among
    them where it is installed as editable: Python follows no link of a directory named in a link.
    """
    run(sys.executable, "-m", "venv", "--without-pip", place / "env", cwd=place)
    python = place / "env/bin/python"
    (packages,) = (place / "env").glob("lib/python3*/site-packages")
    if wheel is not None:
        pip = ("-m", "pip", "--disable-pip-version-check", "--quiet", "--python", python)
        run(sys.executable, *pip, "install", "--no-deps", wheel, cwd=place)
    beside = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    (packages / "beside.pth").write_text("\n".join(sorted(beside)) + "\n")
    return python

"""The built wheel works in an empty environment, without the repository."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow

USE = """
import importlib.util, sys
import wherecast as wc

schema = wc.Schema.from_dict({"no2": {"type": "float", "min": 0, "max": 1000}, "city": "string"})
f = wc.Filter("no2 > 40 AND city = 'Zagreb'", schema)
print(f.matches({"no2": 45.0, "city": "Zagreb"}), f.matches({"no2": 45.0, "city": "Split"}))
print(importlib.util.find_spec("pyspark"))
print(*sys.path, wc.__file__, sep="\\n")
"""


def run(*command: str | Path, cwd: Path) -> str:
    """The standard output of a command that must succeed and must not see the repository."""
    environ = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        command, cwd=cwd, env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def pins() -> str:
    """The versions of the lock as constraints: pip takes no hashes beside a wheel without one."""
    lock = (ROOT / "requirements.lock").read_text()
    return "\n".join(re.findall(r"^[a-z0-9._-]+==[^\\\n]*", lock, re.MULTILINE))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment that holds the wheel and what the wheel asks for."""
    place = tmp_path_factory.mktemp("wheel")
    build = ("-m", "build", "--wheel", "--no-isolation", "--outdir", place / "dist", ROOT)
    run(sys.executable, *build, cwd=place)
    (wheel,) = (place / "dist").glob("wherecast-*.whl")
    (place / "pins.txt").write_text(pins())
    run(sys.executable, "-m", "venv", place / "env", cwd=place)
    pip = (place / "env/bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "install", "--constraint", place / "pins.txt", wheel, cwd=place)
    return place


def test_matches_a_filter_without_spark_and_without_the_repository(empty: Path) -> None:
    verdicts, spark, *paths = run(empty / "env/bin/python", "-c", USE, cwd=empty).splitlines()
    assert verdicts == "True False"
    assert spark == "None"
    assert not [path for path in paths if Path(path).is_relative_to(ROOT)]


def test_is_typed_and_carries_its_licence(empty: Path) -> None:
    (package,) = empty.glob("env/lib/python3*/site-packages/wherecast")
    assert (package / "py.typed").exists()
    assert list(package.parent.glob("wherecast-*.dist-info/licenses/LICENSE"))


def test_tells_its_version(empty: Path) -> None:
    (info,) = empty.glob("env/lib/python3*/site-packages/wherecast-*.dist-info")
    version = info.name.removeprefix("wherecast-").removesuffix(".dist-info")
    assert version in run(empty / "env/bin/wherecast", "--version", cwd=empty)


def test_explains_a_filter(empty: Path) -> None:
    command = ("explain", "no2 > 40 AND city = 'Zagreb'", '{"no2": 45.0, "city": "Split"}')
    shown = run(empty / "env/bin/wherecast", *command, cwd=empty)
    assert "no2" in shown
    assert "Split" in shown

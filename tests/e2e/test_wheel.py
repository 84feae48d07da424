"""The built wheel works in an empty environment, without the repository."""

from pathlib import Path

import pytest

from tests.environments import ROOT, install, run

pytestmark = pytest.mark.release

USE = """
import importlib.util, sys
import wherecast as wc

schema = wc.Schema.from_dict({"no2": {"type": "float", "min": 0, "max": 1000}, "city": "string"})
f = wc.Filter("no2 > 40 AND city = 'Zagreb'", schema)
print(f.matches({"no2": 45.0, "city": "Zagreb"}), f.matches({"no2": 45.0, "city": "Split"}))
print(importlib.util.find_spec("pyspark"))
print(*sys.path, wc.__file__, sep="\\n")
"""


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment that holds the wheel and what the wheel asks for."""
    place = tmp_path_factory.mktemp("empty")
    install(wheel, place)
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

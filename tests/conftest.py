"""What all tests share: Hypothesis profiles, one lazy Spark session and one S3 server for all."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.environments import ROOT, build_wheel
from tests.s3 import s3  # noqa: F401
from tests.seeds import VARIABLE, run_seed
from tests.spark.sessions import KIND, SESSIONS
from wherecast.pipeline.filters.process_blobs import remove_own

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A busy machine must not change a verdict, so no test has a deadline. The seed of the run decides
# which examples are tried, in CI too. `--hypothesis-profile thorough` is for long searches.
_usual = settings(
    deadline=None, derandomize=False, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("usual", _usual)
settings.register_profile("thorough", _usual, max_examples=2000)
settings.load_profile("usual")

# For every process of the tests: code compiled by one of them is compiled for all, and what users
# have in their caches stays out of it.
os.environ.setdefault("WHERECAST_CACHE_DIR", str(ROOT / ".pytest_cache" / "wherecast"))

# For every Spark that a test starts, in whatever process: see the file there.
os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).parent / "spark" / "conf"))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Gives the seed of the run to Hypothesis, unless `--hypothesis-seed` has given one."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = run_seed()


def pytest_report_header() -> str:
    """Says how the random tests of this run are repeated."""
    return f"random tests: {VARIABLE}={run_seed()} repeats them"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: pytest.ExitCode
) -> None:
    """Says so once more beside failures."""
    if exitstatus == pytest.ExitCode.TESTS_FAILED:
        terminalreporter.line(pytest_report_header())


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Keeps long texts out of names: pytest gives the name to child processes in a variable."""
    if isinstance(val, str | bytes) and len(val) > 200:
        return f"{argname} of {len(val)}"
    return None


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--campaign NAME` chooses one of the long campaigns; see `make soak`."""
    parser.addoption("--campaign", metavar="NAME", help="the campaign to run, with -m soak")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the users of the `spark` fixture, and keeps them on one worker: one JVM for all.

    Tests that start a Java process of their own run beside them; those of one file stay on one
    worker. The campaigns are left out unless `-m` names them, and `--campaign` chooses one of them.
    """
    _choose_campaign(config, items)
    not_classic = pytest.mark.skip(reason="requires classic Spark: a SparkContext")
    for item in items:
        shares = "spark" in getattr(item, "fixturenames", ())
        if shares:
            item.add_marker("spark")
        if shares or (item.get_closest_marker("spark") and not item.get_closest_marker("soak")):
            group = "spark" if shares else f"spark-apart {item.path.name}"
            item.add_marker(pytest.mark.xdist_group(group))
        if KIND != "classic" and item.get_closest_marker("classic"):
            item.add_marker(not_classic)
    if hasattr(config, "workerinput"):
        items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """When a test comes, if several processes share the tests: a low number is early.

    First are the files that compile nearly all kernels, one on each worker, so that everybody else
    finds them compiled. Long groups and long tests follow, so that no worker is left with one.
    """
    group = item.get_closest_marker("xdist_group")
    if group is not None:
        return {"tree-kernels": 0, "column-kernels": 1, "spark": 2}.get(group.args[0], 3)
    return 4 if item.get_closest_marker("slow") or item.get_closest_marker("release") else 5


def _choose_campaign(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the campaigns of `make soak` that nobody asked for."""
    if "soak" not in config.getoption("-m"):
        items[:] = [item for item in items if not item.get_closest_marker("soak")]
    elif (wanted := config.getoption("--campaign")) is not None:
        marked = [(item, item.get_closest_marker("soak")) for item in items]
        items[:] = [item for item, mark in marked if mark is not None and mark.args == (wanted,)]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """One Spark session for the whole run, of the kind that is asked for; leaves nothing behind."""
    with SESSIONS[KIND](tmp_path_factory.mktemp("spark")) as session:
        yield session
    remove_own()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the project, built once."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))

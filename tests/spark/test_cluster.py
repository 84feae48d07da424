"""`match` on a real cluster whose workers share no directory with the driver."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.environments import ROOT, install_beside
from tests.spark import cluster_job
from tests.spark.cluster import ADDRESSES, Cluster, namespace, started
from tests.spark.services import LIMIT_S, Service, until
from wherecast import Index

pytestmark = [pytest.mark.spark, pytest.mark.classic, pytest.mark.release]

SCRIPT = Path(cluster_job.__file__)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, request: Any) -> Iterator[Cluster]:
    inside = namespace(tmp_path_factory.mktemp("hidden"))
    if inside is None:
        pytest.skip("mount namespaces are not permitted here: unshare --mount failed")
    place = tmp_path_factory.mktemp("installed")
    python = install_beside(request.getfixturevalue("wheel"), place)
    with started(tmp_path_factory.mktemp("cluster"), python, inside) as running:
        yield running


@pytest.fixture(scope="module")
def expected() -> list[list[int]]:
    """The matches of the reference index."""
    schema, filters, publications = cluster_job.workload()
    index = Index(schema, kind="scan")
    index.add_all(zip(*(column.to_pylist() for column in filters.columns), strict=True))
    found = index.match(publications.drop_columns(["number"])).to_pylist()
    pairs = [[number, id_] for number, ids in enumerate(found) for id_ in sorted(ids)]
    assert len(pairs) > 1000
    return pairs


def begin(cluster: Cluster, *arguments: str | Path) -> tuple[Service, Path]:
    """A driver, and where it will write down what it found."""
    result = cluster.driver_home / "result.json"
    result.unlink(missing_ok=True)
    return cluster.driver(SCRIPT, result, *arguments), result


def finish(driver: Service, result: Path) -> dict[str, Any]:
    """What a driver wrote down."""
    until("the end of the driver", lambda: driver.process.poll() is not None, 3 * LIMIT_S)
    assert driver.process.returncode == 0, driver.log.read_text()[-4000:]
    told: dict[str, Any] = json.loads(result.read_text())
    return told


def test_the_same_matches_as_without_spark(cluster: Cluster, expected: list[list[int]]) -> None:
    driver, result = begin(cluster, "rows,arrays")
    with closing(driver):
        told = finish(driver, result)

    assert told["rows"] == expected
    assert told["arrays"] == expected
    assert told["failed"] == 0
    packages, homes, sees = (set(column) for column in zip(*told["workers"], strict=True))
    assert not [path for path in packages if Path(path).is_relative_to(ROOT)]
    assert homes == {str(cluster.driver_home.parent / name) for name in ADDRESSES}
    assert sees == {False}


def test_an_executor_killed_in_the_middle_loses_nothing(
    cluster: Cluster, expected: list[list[int]]
) -> None:
    begun, gate = cluster.driver_home / "begun", cluster.shared / "gate"
    driver, result = begin(cluster, "rows", begun, gate)
    with closing(driver):
        until("the first tasks", lambda: begun.exists() or driver.process.poll() is not None)
        victim = cluster.executors()[0]
        os.kill(victim, signal.SIGKILL)
        until("the end of the executor", lambda: victim not in cluster.executors())
        gate.touch()
        told = finish(driver, result)

    assert told["failed"] > 0
    assert told["rows"] == expected


def test_drivers_leave_no_executor_behind(cluster: Cluster) -> None:
    until("the end of the executors", lambda: not cluster.executors())

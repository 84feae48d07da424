"""A store in a directory is served by Spark on its own machine only."""

from dataclasses import replace

import pytest

from wherecast.model import ConfigError
from wherecast.server.settings import Settings
from wherecast.server.supervisor.spark_master import check_master


def settings(master: str, runner: str = "spark") -> Settings:
    given = Settings()
    return replace(
        given,
        server=replace(given.server, runner=runner),  # type: ignore[arg-type]
        spark=replace(given.spark, master=master),
    )


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*,4]", "local-cluster[2,1,1024]"])
def test_a_master_on_this_machine_is_accepted(master: str) -> None:
    check_master(settings(master))


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://host", "localhost", ""])
def test_another_master_is_refused_by_the_name_of_its_setting(master: str) -> None:
    with pytest.raises(ConfigError, match=r"^spark\.master is "):
        check_master(settings(master))
    check_master(settings(master, "inline"))

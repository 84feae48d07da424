"""Where Spark may run: on the machine of the store."""

import re

from wherecast.model import ConfigError
from wherecast.server.settings import Settings

_LOCAL = re.compile(r"local(\[.*\]|-cluster\[.*\])?")


def check_master(settings: Settings) -> None:
    """Refuses a Spark master on other machines, which do not see the directory of the store.

    Raises:
        ConfigError: the setting `spark.master` names such a master.
    """
    master = settings.spark.master
    if settings.server.runner == "spark" and not _LOCAL.fullmatch(master):
        text = "a store in a directory needs Spark on its own machine, for instance local[*,4]"
        raise ConfigError(f"spark.master is {master}; {text}")

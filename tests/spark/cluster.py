"""A standalone Spark cluster: a master and two workers that share no directory with the driver.

Each worker lives in a mount namespace of its own, in which the driver's directory, the repository's
sources and the other worker's directory are empty. So a result that needs a file of the driver can
only be right where Spark itself carried the file. Each also has a loopback address of its own, else
Spark takes them for one host and reads shuffled files from disk instead of asking for them.
"""

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.environments import ROOT, outside
from tests.spark.services import Service, spark_environ, spark_home

NAMESPACES = (("unshare", "--mount"), ("unshare", "--map-root-user", "--mount"))
ADDRESSES = {"worker-1": "127.0.0.2", "worker-2": "127.0.0.3"}
HIDE = 'for place in {hidden}; do mount -t tmpfs -o ro none "$place" || exit; done; exec "$@"'


@dataclass(frozen=True)
class Cluster:
    """A running cluster.

    Attributes:
        url: of the master.
        python: what driver and workers run: it has the wheel.
        driver_home: the driver's directory, which no worker sees.
        shared: a directory that all see.
        workers: one service each.
    """

    url: str
    python: Path
    driver_home: Path
    shared: Path
    workers: tuple[Service, ...]

    def driver(self, script: Path, *arguments: str | Path) -> Service:
        """A driver, started; it works in its own directory and has a home of its own there."""
        environ = {**_environ(self.driver_home), "PYSPARK_PYTHON": str(self.python)}
        command = [self.python, script, self.url, *arguments]
        return Service.start(command, self.shared.parent / "driver.log", environ)

    def executors(self) -> list[int]:
        """The pids of the Java processes that run tasks."""
        return [
            pid
            for worker in self.workers
            for pid, command in worker.members().items()
            if "CoarseGrainedExecutorBackend" in command
        ]


def namespace(place: Path) -> tuple[str, ...] | None:
    """The command that gives a process mounts of its own; None where that is not permitted."""
    for command in NAMESPACES:
        try:
            done = subprocess.run([*command, *_hiding([place], "true")], capture_output=True)
        except FileNotFoundError:
            return None
        if done.returncode == 0:
            return command
    return None


def _hiding(hidden: list[Path], *command: str | Path) -> list[str | Path]:
    """A command that runs where some directories are empty."""
    quoted = " ".join(shlex.quote(str(place)) for place in hidden)
    return ["sh", "-c", HIDE.format(hidden=quoted), "sh", *command]


def _environ(home: Path) -> dict[str, str]:
    """The variables of a process that keeps its files in a directory of its own."""
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    own = {"HOME": home, "TMPDIR": home / "tmp", "XDG_CACHE_HOME": home / "cache"}
    kept = {k: v for k, v in spark_environ().items() if k in outside()}
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        kept.pop(name, None)
    java = f"-Djava.io.tmpdir={home / 'tmp'}"
    return {**kept, **{k: str(v) for k, v in own.items()}, "JDK_JAVA_OPTIONS": java}


@contextmanager
def started(place: Path, python: Path, inside: tuple[str, ...]) -> Iterator[Cluster]:
    """A cluster whose files are in one directory; ended with all that it started.

    Args:
        place: an empty directory.
        python: what driver and workers run.
        inside: the command that gives a process mounts of its own.
    """
    homes = {name: place / name for name in ("driver", *ADDRESSES)}
    for home in (*homes.values(), place / "shared", place / "master"):
        home.mkdir()
    with ExitStack() as stack:
        command = ["master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        master = _daemon(command, place / "master", [])
        stack.callback(master.close)
        url = master.said(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")[1]
        workers = []
        for name, address in ADDRESSES.items():
            hidden = [home for other, home in homes.items() if other != name]
            hidden += [ROOT / "src", ROOT / "tests"]
            sizes = ["--cores", "1", "--memory", "1g", "--work-dir", str(homes[name] / "work")]
            command = ["worker.Worker", "--host", address, "--webui-port", "0", *sizes, url]
            workers.append(_daemon(command, homes[name], [*inside, *_hiding(hidden)]))
            stack.callback(workers[-1].close)
        for worker in workers:
            worker.said("Successfully registered with master")
        yield Cluster(url, python, homes["driver"], place / "shared", tuple(workers))


def _daemon(command: list[str], home: Path, before: list[str | Path]) -> Service:
    """A part of the cluster, started; its log lies beside its directory."""
    name, _, address, *_ = command
    java = [spark_home() / "bin/spark-class", f"org.apache.spark.deploy.{name}", *command[1:]]
    environ = {**_environ(home), "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": address}
    return Service.start([*before, *java], home.with_suffix(".log"), environ)

"""The bytes that a query moves between Spark and Python, and the memory of Python workers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PERIOD_S = 0.05
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Moved:
    """Bytes between Spark and Python, as Spark counts them.

    Attributes:
        sent_bytes: bytes to the workers.
        received_bytes: bytes from the workers.
    """

    sent_bytes: int
    received_bytes: int


@dataclass(slots=True)
class Resident:
    """The largest sampled memory of one worker.

    Attributes:
        peak_bytes: all resident pages, those of mapped files included.
        private_bytes: resident pages without mapped files.
    """

    peak_bytes: int = 0
    private_bytes: int = 0


def moved(frame: "DataFrame") -> Moved:
    """The bytes that a collected frame has moved, from the metrics of its plan."""
    sent = received = 0
    for node in _nodes(frame._jdf.queryExecution().executedPlan()):
        metrics = node.metrics()
        if metrics.contains("pythonDataSent"):
            sent += metrics.apply("pythonDataSent").value()
            received += metrics.apply("pythonDataReceived").value()
    return Moved(sent, received)


def _nodes(plan: Any) -> Iterator[Any]:
    """The nodes of a plan, those of nested plans included."""
    yield plan
    name = plan.getClass().getSimpleName()
    if name == "AdaptiveSparkPlanExec":
        yield from _nodes(plan.executedPlan())
    elif name.endswith("QueryStageExec"):
        yield from _nodes(plan.plan())
    else:
        children = plan.children()
        for place in range(children.size()):
            yield from _nodes(children.apply(place))


@contextmanager
def watched(spark: "SparkSession") -> Iterator[Resident]:
    """Samples the memory of the Python workers twenty times a second while the body runs.

    Sampling costs a little of a core, so it is not used while times are taken. Without /proc the
    figures stay 0.
    """
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    java = int(jvm.java.lang.ProcessHandle.current().pid())
    resident, done = Resident(), threading.Event()
    watcher = threading.Thread(target=_watch, args=(java, resident, done), daemon=True)
    watcher.start()
    try:
        yield resident
    finally:
        done.set()
        watcher.join()


def _watch(java: int, resident: Resident, done: threading.Event) -> None:
    workers: list[int] = []
    looks = 0
    while True:
        last = done.wait(_PERIOD_S)
        if looks % 10 == 0 or last:  # new workers are rare, and listing all processes is slow
            workers = _workers(java)
        looks += 1
        for worker in workers:
            peak, private = _memory(worker)
            resident.peak_bytes = max(resident.peak_bytes, peak)
            resident.private_bytes = max(resident.private_bytes, private)
        if last:
            return


def _workers(java: int) -> list[int]:
    """The Python workers of a Java process: the children of its daemons."""
    parents = {int(path.name): _parent(path) for path in _PROC.glob("[0-9]*")}
    return [process for process, parent in parents.items() if parents.get(parent) == java]


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(") ")[2].split()[1])
    except (OSError, IndexError):  # the process has ended
        return 0


def _memory(process: int) -> tuple[int, int]:
    """Resident and private bytes of a process; 0 if it has ended."""
    try:
        lines = (_PROC / str(process) / "status").read_text().splitlines()
    except OSError:
        return 0, 0
    said = dict(line.split(":", 1) for line in lines)
    peak, private = (int(said.get(name, "0 kB").split()[0]) for name in ("VmRSS", "RssAnon"))
    return peak * 1024, private * 1024

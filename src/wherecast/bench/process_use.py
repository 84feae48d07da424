"""Processor time and voluntary context switches of processes, from Linux."""

import resource
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import clock_gettime, process_time

from wherecast.bench.progress import Row


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """What processes have used so far.

    Attributes:
        cpu_s: processor time, in seconds.
        switches: number of times that a thread gave up its core to wait.
    """

    cpu_s: float
    switches: int

    def __sub__(self, earlier: "ProcessUse") -> "ProcessUse":
        return ProcessUse(self.cpu_s - earlier.cpu_s, self.switches - earlier.switches)

    def columns(self, publications: int, whose: str = "") -> Row:
        """The use per publication; `whose` begins the names of the columns."""
        return {
            f"{whose}CPU µs/publication": self.cpu_s / publications * 1e6,
            f"{whose}switches/publication": self.switches / publications,
        }


def own_use() -> ProcessUse:
    """The use of this process, threads that ended included."""
    return ProcessUse(process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw)


def use_of(pid: int) -> ProcessUse:
    """The use of a process and its descendants; switches of their living threads only."""
    pids = descendants(pid)
    return ProcessUse(sum(map(cpu_seconds, pids)), _switches(pids))


def cpu_seconds(pid: int) -> float:
    """The processor time of a process, to the nanosecond; 0 if it ended.

    The number of the clock is what `clock_getcpuclockid` computes.
    """
    try:
        return clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def descendants(pid: int) -> list[int]:
    """A process, its children, their children and so on."""
    found = [pid]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, task.read_text().split())
            except OSError:
                continue
    return found


def _switches(pids: Iterable[int]) -> int:
    """The voluntary switches of all threads: the status of a process has only its first one's."""
    total = 0
    for pid in pids:
        for status in Path(f"/proc/{pid}/task").glob("*/status"):
            try:
                lines = status.read_text().splitlines()
            except OSError:
                continue
            total += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary"))
    return total

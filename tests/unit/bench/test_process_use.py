"""Processor time and voluntary switches: all threads of a process count, and its children."""

import os
import subprocess
import sys
from pathlib import Path
from threading import Lock, Thread

from wherecast.bench.process_use import ProcessUse, cpu_seconds, descendants, own_use, use_of

ECHOES = """
import sys, threading
def echo():
    for line in iter(sys.stdin.readline, ""):
        sum(range(10_000))
        print(line, end="", flush=True)
one = threading.Thread(target=echo)
one.start()
one.join()
"""
_TURNS = 10
CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"


def test_the_threads_of_a_child_of_a_process_count() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, ECHOES],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        uses = []
        for number in range(_TURNS + 1):
            process.stdin.write(f"{number}\n")
            assert process.stdout.readline() == f"{number}\n"
            found = descendants(process.pid)
            while not all(_sleeps(pid) for pid in found):
                pass
            uses.append(use_of(process.pid))
        process.stdin.close()
    used = uses[-1] - uses[0]
    assert len(found) == 2
    assert used.cpu_s > 0  # of the thread that echoes: all others only wait
    assert used.switches >= _TURNS
    assert cpu_seconds(process.pid) == 0.0  # it ended


def test_a_thread_that_waits_switches() -> None:
    turn, before = Lock(), own_use()
    turn.acquire()
    waiting = Thread(target=turn.acquire)
    waiting.start()
    while not _sleeps(os.getpid(), str(waiting.native_id)):
        pass
    turn.release()
    waiting.join()
    used = own_use() - before
    assert used.switches >= 1
    assert used.cpu_s > 0


def _sleeps(pid: int, threads: str = "*") -> bool:
    """Whether threads of a process wait."""
    stats = Path(f"/proc/{pid}/task").glob(f"{threads}/stat")
    return all(stat.read_text().rpartition(")")[2].split()[0] == "S" for stat in stats)


def test_columns_are_per_publication() -> None:
    used = ProcessUse(3.5, 40) - ProcessUse(1.5, 20)
    assert used.columns(10, "client ") == {
        "client CPU µs/publication": 200_000.0,
        "client switches/publication": 2.0,
    }

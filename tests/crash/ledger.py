"""The ledger: what publishers and subscribers were told, written apart from the system.

Each process that is killed has a file of its own, one line per fact, and the lines stand in the
order in which things happened. A line is written in one call, which a kill may cut short: such a
line, the last one, counts as if the kill had come before it. Files sort as their processes lived. A
fact is a list: what happened, to whom, and what.

    trying       publisher, first number, count       about to publish so many, from that number on
    accepted     publisher, first number, count       they are in the log, now or before
    changing     number                               about to make a change of the script
    changed      number                               it is acknowledged
    received     subscriber, [[cursor, publication id, subscription ids, redelivered], …]
    acked        subscriber, [cursor, …]              just these
    through      subscriber, cursor                   everything up to it
    problem      text                                 a call raised an error that heals
    kept         offset, [publication id, …]          is in the log, which is about to be trimmed
    kept change  version, offset, [row, …]            the same of changes, which act from an offset
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Fact = list[Any]


class Ledger:
    """The file of one process; safe from several threads."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, *fact: object) -> None:
        """Adds a fact."""
        line = json.dumps(fact).encode() + b"\n"
        assert os.write(self._file, line) == len(line)


def file_of(folder: Path, life: int) -> Path:
    """Where a process writes that is the so-manieth."""
    return folder / f"{life:06d}.jsonl"


def read_facts(folder: Path) -> Iterator[Fact]:
    """All facts, in the order in which they happened."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open() as file:
            for line in file:
                if line.endswith("\n"):
                    yield json.loads(line)


def size_bytes(folder: Path) -> int:
    """How much was written."""
    return sum(path.stat().st_size for path in folder.glob("*.jsonl"))

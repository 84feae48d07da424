"""The groups that the planner made of each run, in words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from wherecast.matching.columnar.layout import LANES, GroupFlag, Header
from wherecast.matching.columnar.runs import Run

_SHOWN = 20


def describe_groups(run: Run) -> list[dict[str, Any]]:
    """The groups of a run's packed trees, the largest first."""
    packed, attributes = run.snapshot.packed_trees(), run.snapshot.table.attributes
    found = []
    for header in packed.headers:
        dims = int(header[Header.DIMS])
        first, size = int(header[Header.FIRST]), int(header[Header.SIZE])
        slots = header[Header.SLOTS : Header.SLOTS + 4].view(np.uint16)[:dims].tolist()
        names = [attributes[slot].name for slot in slots] if attributes else []
        blocks = _blocks(size // LANES)
        flags = GroupFlag(int(header[Header.FLAGS]))
        found.append(
            {
                "attributes": _clauses(names, int(header[Header.CLAUSES])),
                "entries": int((packed.numbers[first : first + size] >= 0).sum()),
                "levels": int(header[Header.LEVELS]),
                "blocks": blocks,
                "bytes": blocks * dims * 4 * LANES + size * 8,
                "decided_by": _decided_by(flags),
            }
        )
    return sorted(found, key=lambda group: -group["entries"])


def _clauses(names: Sequence[str], continues: int) -> list[str]:
    """The attributes of dimensions, those of one clause joined."""
    found: list[str] = []
    for dim, name in enumerate(names):
        if continues >> dim & 1:
            found[-1] += f" or {name}"
        else:
            found.append(name)
    return found


def _blocks(leaves: int) -> int:
    """The blocks of a tree with so many leaf blocks."""
    total = leaves
    while leaves > 1:
        leaves = -(-leaves // LANES)
        total += leaves
    return total


def _decided_by(flags: GroupFlag) -> str:
    words = "cells, then those of the other attributes" if GroupFlag.REST in flags else "cells"
    if GroupFlag.CHECK_ALL in flags:
        words += ", then exact keys for all that pass"
    elif GroupFlag.CHECK_EDGES in flags:
        words += ", and exact keys at the edges"
    some = "for some, " if GroupFlag.MIXED in flags else ""
    if GroupFlag.EXTRA in flags:
        words += f"; then {some}patterns or distances"
    if GroupFlag.ONCE in flags:
        words += f"; {some}each filter once, whatever other conjunctions say"
    return words


def explain_plan(runs: Sequence[Run]) -> str:
    """The plan in lines of text."""
    lines = []
    for number, run in enumerate(runs):
        groups = describe_groups(run)
        plural = "" if len(groups) == 1 else "s"
        lines.append(f"run {number}: {len(run):,} filters in {len(groups):,} group{plural}")
        for group in groups[:_SHOWN]:
            on = ", ".join(group["attributes"]) or "nothing"
            lines.append(
                f"  on {on}: {group['entries']:,} entries, {group['levels']} levels,"
                f" {group['blocks']:,} blocks, {group['bytes']:,} bytes;"
                f" decided by {group['decided_by']}"
            )
        if len(groups) > _SHOWN:
            lines.append(f"  and {len(groups) - _SHOWN:,} smaller groups")
    return "\n".join(lines) or "no filters"

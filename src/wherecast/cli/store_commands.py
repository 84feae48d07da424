"""`wherecast store`: what can be done with the directory of a store."""

from collections import Counter
from pathlib import Path

import orjson

from wherecast.cli import screen
from wherecast.store.maintenance import backup_store, check_store

_SHOWN_MAX = 20


def run_check(path: Path, as_json: bool) -> bool:
    """Verifies everything in a directory; returns whether it is as it was written.

    Raises:
        ConfigError: it is no store.
    """
    counts: Counter[str] = Counter()
    problems: list[tuple[str, str]] = []
    with screen.progress("Checking", lambda _: f"{counts.total():,} records"):
        for checked in check_store(path):
            if checked.noun:
                counts[checked.noun] += checked.count
            if checked.problem:
                problems.append((checked.place, checked.problem))
    print(_as_json(path, counts, problems) if as_json else _as_lines(path, counts, problems))
    return not problems


def run_backup(path: Path, target: Path, as_json: bool) -> None:
    """Copies a store, consistently, while it is in use.

    Raises:
        ConfigError: it is no store, or the target is not empty.
        StoreError: it cannot be read, or the disk is full.
    """
    sizes: Counter[str] = Counter()
    missing: list[str] = []
    with screen.progress("Copying", lambda _: f"{sizes.total():,} bytes"):
        for copied in backup_store(path, target):
            sizes[copied.name] += copied.size_bytes
            if copied.is_missing:
                missing.append(copied.name)
    if as_json:
        report = {"path": str(path), "target": str(target), "bytes": sizes.total()}
        print(orjson.dumps(report | {"files": len(sizes), "missing": missing}).decode())
        return
    print(f"{target}: {screen.count(len(sizes), 'file')}, {sizes.total():,} bytes")
    if missing:
        noun = screen.count(len(missing), "segment")
        print(f"{noun} missing in {path}; what they held is made again from the log")


def _as_lines(path: Path, counts: Counter[str], problems: list[tuple[str, str]]) -> str:
    lines = [f"{path}: " + ", ".join(screen.count(counts[noun], noun) for noun in counts)]
    if not problems:
        return "\n".join([*lines, "Everything is as it was written."])
    lines.append(f"{screen.count(len(problems), 'problem')}:")
    lines += [f"  {place}: {problem}" for place, problem in problems[:_SHOWN_MAX]]
    if len(problems) > _SHOWN_MAX:
        lines.append(f"  … and {len(problems) - _SHOWN_MAX:,} more (--json shows all)")
    return "\n".join(lines)


def _as_json(path: Path, counts: Counter[str], problems: list[tuple[str, str]]) -> str:
    told = [{"place": place, "problem": problem} for place, problem in problems]
    report = {"path": str(path), "counts": dict(counts), "intact": not problems, "problems": told}
    return orjson.dumps(report).decode()

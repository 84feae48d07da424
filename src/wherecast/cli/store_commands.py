"""`wherecast store`: checks, repairs and copies the directory of a store."""

from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from wherecast.cli import screen
from wherecast.model import StoreError
from wherecast.pipeline.live.repair.mend_segments import mend
from wherecast.store.clock import now_us
from wherecast.store.maintenance import CheckFinding, backup_store, check_store, repair_store
from wherecast.store.open_store import open_store

_SHOWN_MAX = 20


@dataclass
class _CheckReport:
    """The counts, problems and notes of a check so far."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[CheckFinding] = field(default_factory=list)
    notes: list[CheckFinding] = field(default_factory=list)


def run_check(path: Path, as_json: bool) -> bool:
    """Verifies all files of a directory; returns whether they are intact.

    Raises:
        ConfigError: the directory is not a store.
    """
    found = _check(path)
    if as_json:
        print(orjson.dumps(_report(path, found)).decode())
        return not found.problems
    lines = [_summary(path, found)]
    if found.problems:
        lines += _problem_lines(f"{screen.count(len(found.problems), 'problem')}:", found.problems)
    else:
        lines.append("Everything is as it was written.")
    print("\n".join(lines + _note_lines(found)))
    return not found.problems


def run_repair(path: Path, as_json: bool, accepts_loss: bool = False) -> bool:
    """Rebuilds derived data in a directory; returns whether no problem is left.

    Args:
        path: the directory.
        as_json: whether the report is JSON.
        accepts_loss: whether to continue without commits that the log has lost.

    Raises:
        ConfigError: the directory is not a store.
        StoreError: the store is in use.
    """
    before = _check(path)
    if repair_store(path, {one.place for one in before.problems}, accepts_loss):
        _mend_segments(path)
    after = _check(path)
    left = {(one.place, one.problem) for one in after.problems}
    repaired = [one for one in before.problems if (one.place, one.problem) not in left]
    if as_json:
        report = _report(path, after) | {"repaired": [_as_dict(one) for one in repaired]}
        print(orjson.dumps(report).decode())
        return not after.problems
    lines = [_summary(path, after)]
    if repaired:
        lines += _problem_lines(f"{screen.count(len(repaired), 'problem')} repaired:", repaired)
    if after.problems:
        lines += _problem_lines(
            f"{screen.count(len(after.problems), 'problem')} left:", after.problems
        )
        lines.append("These records cannot be derived from others; a backup may have them.")
    elif not repaired:
        lines.append("Everything is as it was written.")
    print("\n".join(lines + _note_lines(after)))
    return not after.problems


def _check(path: Path) -> _CheckReport:
    found = _CheckReport()
    with screen.progress("Checking", lambda _: f"{found.counts.total():,} records"):
        for one in check_store(path):
            if one.noun:
                found.counts[one.noun] += one.count
            if one.problem:
                found.problems.append(one)
            if one.note:
                found.notes.append(one)
    return found


def _mend_segments(path: Path) -> None:
    """Rebuilds damaged and missing segments from the log, as far as the log reaches back."""
    damaged = [one.sequences for one in check_store(path) if one.sequences]
    with closing(open_store(path)) as store:
        for sequences in damaged:
            with suppress(StoreError):  # the next check reports the segment
                mend(store, sequences.start, sequences.stop, now_us())


def run_backup(path: Path, target: Path, as_json: bool) -> None:
    """Copies a store, consistently, while it is in use.

    Raises:
        ConfigError: the directory is not a store, or the target is not empty.
        StoreError: the store cannot be read, or the disk is full.
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
        print(f"{noun} missing in {path}; the copy rebuilds them from the log")


def _summary(path: Path, found: _CheckReport) -> str:
    counts = (screen.count(count, noun) for noun, count in found.counts.items())
    return f"{path}: " + ", ".join(counts)


def _note_lines(found: _CheckReport) -> list[str]:
    return [f"Note: {one.place}: {one.note}" for one in found.notes]


def _problem_lines(title: str, problems: list[CheckFinding]) -> list[str]:
    lines = [title, *(f"  {one.place}: {one.problem}" for one in problems[:_SHOWN_MAX])]
    if len(problems) > _SHOWN_MAX:
        lines.append(f"  … and {len(problems) - _SHOWN_MAX:,} more (--json shows all)")
    return lines


def _report(path: Path, found: _CheckReport) -> dict[str, object]:
    return {
        "path": str(path),
        "counts": dict(found.counts),
        "intact": not found.problems,
        "problems": [_as_dict(one) for one in found.problems],
        "notes": [{"place": one.place, "note": one.note} for one in found.notes],
    }


def _as_dict(finding: CheckFinding) -> dict[str, str | None]:
    return {"place": finding.place, "problem": finding.problem}

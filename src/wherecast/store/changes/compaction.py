"""Changes that no publication of a log can tell apart, replaced by what stands after them.

A publication that is still in a log lies at its start or beyond it. Of the changes that act from
the start or earlier only the outcome matters to it, so these can be replaced by that: streams,
subscribers and subscriptions, each once. A change that stands keeps its version and its time, and
the parts together cover all versions of the changes that they replace. Only changes of known kinds
are ever superseded: all others stand.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from wherecast.store.changes.change_batches import batch_of
from wherecast.store.changes.projection import Projection, StandingChange
from wherecast.store.position import Position
from wherecast.store.records import KNOWN_KINDS, ChangeEntry

CHANGES_MIN = 1_000  # fewer are read quickly
ROWS_MAX = 16_384  # in one part
TEXT_MAX = 1 << 22  # characters in one part, about


@dataclass(frozen=True, slots=True, eq=False)
class Compaction:
    """The outcome of a look at the first changes of a log.

    Attributes:
        end: the changes before this version can be replaced by `parts`.
        parts: entries with the outcome of these changes; empty where compaction saves little.
        due: the version at which the next look may find something.
    """

    end: int
    parts: list[ChangeEntry]
    due: int


def first_due(compacted_to: int, standing: int) -> int:
    """The version at which it may be worth while to compact a log.

    Args:
        compacted_to: end of the compacted changes; 0 if none were compacted.
        standing: number of streams, subscribers and subscriptions.
    """
    return compacted_to + max(CHANGES_MIN, standing if compacted_to else 2 * standing)


def compact(entries: Iterable[ChangeEntry], start: Position, end: int) -> Compaction:
    """Compacts the changes of a log that begins at a position, if half of them are superseded.

    Nothing is replaced from the first damaged change on: its outcome is not known.

    Args:
        entries: from version 0 on.
        start: where the log begins.
        end: where the entries end that act from there or earlier, as far as is known.
    """
    standing, others = Projection(), list[StandingChange]()
    rows, last = 0, None
    for entry in entries:
        if entry.damage is not None or not start.reaches(entry.acts_from):
            break
        standing.take(entry)
        if entry.version == 0:
            others.clear()
        others.extend(_of_other_kinds(entry))
        rows += entry.changes.num_rows
        last = entry
    kept = sum(standing.counts().values()) + len(others)
    is_worth = last is not None and rows >= max(CHANGES_MIN, 2 * kept)
    if last is None or not is_worth or last.compacted_to not in (None, last.end):
        return Compaction(0, [], end + max(CHANGES_MIN, 2 * kept - rows))
    left = sorted([*standing.rows(), *others], key=lambda change: change.version)
    due = end + max(CHANGES_MIN, 2 * kept - len(left))
    return Compaction(last.end, list(_parts(left, last)), due)


def _of_other_kinds(entry: ChangeEntry) -> Iterator[StandingChange]:
    """The changes of an entry that are of no known kind."""
    kinds = entry.changes.column("kind")
    if KNOWN_KINDS.issuperset(kinds.dictionary.to_pylist()):  # as nearly always
        return
    names = np.array([kind in KNOWN_KINDS for kind in kinds.to_pylist()], np.bool_)
    places = np.flatnonzero(~names)
    versions, times = entry.row_versions, entry.times
    for place, row in zip(
        places.tolist(), entry.changes.take(pa.array(places)).to_pylist(), strict=True
    ):
        at = entry.at if times is None else int(times[place])
        yield StandingChange(int(versions[place]), at, tuple(row.values()))


def _parts(standing: Sequence[StandingChange], last: ChangeEntry) -> Iterator[ChangeEntry]:
    """What stands after an entry; the last part covers the versions that are left."""
    pages = list(_pages(standing)) or [[]]
    starts = [0, *(page[0].version for page in pages[1:])]
    for page, version, end in zip(pages, starts, [*starts[1:], last.end], strict=True):
        versions = np.array([change.version for change in page], np.int64)
        is_successive = np.array_equal(versions, np.arange(version, version + len(page)))
        yield ChangeEntry(
            version,
            end - version,
            last.acts_from,
            last.at,
            batch_of([change.row for change in page]),
            times=np.array([change.at for change in page], np.int64),
            compacted_to=last.end,
            versions=None if is_successive else versions,
        )


def _pages(standing: Iterable[StandingChange]) -> Iterator[list[StandingChange]]:
    """What stands, some megabytes at a time."""
    page: list[StandingChange] = []
    size = 0
    for change in standing:
        page.append(change)
        size += sum(map(len, change.row))
        if len(page) >= ROWS_MAX or size >= TEXT_MAX:
            yield page
            page, size = [], 0
    if page:
        yield page

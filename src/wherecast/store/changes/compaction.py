"""Changes that no publication of a log can tell apart, replaced by what stands after them.

A publication that is still in a log lies at its start or beyond it. Of the changes that act from
the start or earlier only the outcome matters to it, so these can be replaced by that: streams,
subscribers and subscriptions, each once. Versions stay as they are: the parts together cover all
versions of the changes that they replace.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from wherecast.store.changes.change_batches import Row, batch_of
from wherecast.store.changes.projection import Projection
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry

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
    standing, rows, last = Projection(), 0, None
    for entry in entries:
        if entry.damage is not None or not start.reaches(entry.acts_from):
            break
        standing.take(entry)
        rows += entry.changes.num_rows
        last = entry
    kept = sum(standing.counts().values())
    is_worth = last is not None and rows >= max(CHANGES_MIN, 2 * kept)
    if last is None or not is_worth or last.compacted_to not in (None, last.end):
        return Compaction(0, [], end + max(CHANGES_MIN, 2 * kept - rows))
    return Compaction(last.end, list(_parts(standing, last)), end + max(CHANGES_MIN, kept))


def _parts(standing: Projection, last: ChangeEntry) -> Iterator[ChangeEntry]:
    """What stands after an entry; the last part covers the versions that are left."""
    pages = list(_pages(standing)) or [[]]
    version = 0
    for number, page in enumerate(pages, 1):
        end = last.end if number == len(pages) else version + len(page)
        yield ChangeEntry(
            version,
            end - version,
            last.acts_from,
            last.at,
            batch_of([row for row, _ in page]),
            times=np.array([at for _, at in page], np.int64),
            compacted_to=last.end,
        )
        version = end


def _pages(standing: Projection) -> Iterator[list[tuple[Row, int]]]:
    """What stands, some megabytes at a time."""
    page: list[tuple[Row, int]] = []
    size = 0
    for row in standing.rows():
        page.append(row)
        size += sum(map(len, row[0]))
        if len(page) >= ROWS_MAX or size >= TEXT_MAX:
            yield page
            page, size = [], 0
    if page:
        yield page

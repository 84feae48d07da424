"""The counters of publishers, rebuilt from the headers of the log where one of them is damaged.

A publisher whose counter is damaged can publish nothing. The log tells the last counter of each
publisher that it still holds publications of. Of another one it tells only how many records there
ever were: its counter goes on behind that number, so that there is a gap and no number comes twice.

Concurrency: the owner rebuilds before any other thread of its process reads or writes.
"""

import logging

import pyarrow as pa

from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.log_commit import LogCommits
from wherecast.store.embedded.log.log_reading import EntryParts, read_entries
from wherecast.store.embedded.log.log_tables import read_marks
from wherecast.store.embedded.log.named_rows import counter_rows, write_counters

_log = logging.getLogger("wherecast.store")


def rebuild_counters(database: Database, commits: LogCommits) -> int:
    """Writes damaged counters anew, and those that are missing.

    Returns:
        The number of counters that were written; 0 if none is damaged.
    """
    with database.reading() as connection:
        rows, end = list(counter_rows(connection)), read_marks(connection).end
    if all(counter is not None for _, _, counter in rows):
        return 0
    intact = {(stream, name) for stream, name, counter in rows if counter is not None}
    logged = _last_counters(database, end)
    changed: dict[str, dict[str, int]] = {}
    for stream, name in {row[:2] for row in rows} | logged.keys():
        if (stream, name) not in intact:
            changed.setdefault(stream, {})[name] = logged.get((stream, name), end)
    with commits.begin() as commit:
        for stream, lasts in changed.items():
            write_counters(commit, stream, lasts)
    count = sum(map(len, changed.values()))
    _log.warning("%s: %d counters of publishers were rebuilt", database.path, count)
    return count


def _last_counters(database: Database, end: int) -> dict[tuple[str, str], int]:
    """The last counter of each publisher and stream, as the publications of the log have it.

    Publications that cannot be read may be anybody's: they count for each of them.
    """
    found: dict[tuple[str, str], int] = {}
    unread = 0
    for entry in read_entries(database, 0, end, EntryParts(headers=True)):
        if entry.headers is None:
            unread += entry.count
            continue
        columns = [entry.headers.column(name) for name in ("publisher", "counter")]
        if columns[0].null_count == entry.count:
            continue
        table = pa.table(columns, names=["publisher", "counter"])
        last = table.group_by("publisher").aggregate([("counter", "max")])
        for one in last.to_pylist():
            name, counter = one["publisher"], one["counter_max"]
            if name is not None and counter is not None:
                key = entry.stream, name
                found[key] = max(counter, found.get(key, 0))
    return {key: last + unread for key, last in found.items()}

"""Commits that `log.db` has lost, found by its second place, and what follows if that is accepted.

What is lost stays a hole. The log goes on behind it, so no offset and no version is given out a
second time: publications of the hole become dead letters, changes of the hole are passed over, and
`wherecast store check` names both. Each accepted loss is a row of the table `losses`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import apsw

from wherecast.model.errors import StoreError
from wherecast.store.embedded.batches.batch_tables import checksum
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.log_commit import LogCommit
from wherecast.store.embedded.log.log_mark import NAME
from wherecast.store.embedded.log.log_tables import Marks, has_damaged_marks, read_marks


@dataclass(frozen=True, slots=True)
class Loss:
    """What a log lacks of what its second place knows.

    Attributes:
        found: bounds of the log.
        known: bounds that the second place or another file knows.
        witness: the file that knows them.
    """

    found: Marks
    known: Marks
    witness: str = NAME

    def __str__(self) -> str:
        found, known = self.found, self.known
        missing = [
            *_range("publication", found.end, known.end),
            *_range("change", found.version, known.version),
        ]
        if known.commits > found.commits:
            count = known.commits - found.commits
            lost = f"the last {count} commits" if count > 1 else "the last commit"
            missing.append(f"what {lost} acknowledged")
        what = f"missing: {', '.join(missing)}" if missing else "its last commits are others"
        return (
            f"it ends at publication {found.end}, change {found.version} and commit "
            f"{found.commits}, but {self.witness} knows of publication {known.end}, change "
            f"{known.version} and commit {known.commits}: {what}"
        )

    def error(self, path: Path) -> StoreError:
        """The error that refuses the log, with what helps."""
        return StoreError(
            f"{path} has lost commits: {self}; go back to a copy that wherecast store backup made, "
            f"or go on without them: wherecast store check --repair --accept-loss {path.parent}"
        )


def find_loss(database: Database, known: Marks | None) -> Loss | None:
    """What a log lacks of what its second place knows; None if it lacks nothing.

    Args:
        database: of the log.
        known: what the second place knows, read before the log.
    """
    if known is None:
        return None
    with database.reading() as connection:
        found, is_damaged = read_marks(connection), has_damaged_marks(connection)
    if is_damaged:  # they are counted from the tables
        # A log that was trimmed may end later than its tables tell.
        is_short = known.end > max(found.end, known.start) or known.version > found.version
    else:
        is_short = known.commits > found.commits
        is_short |= known.commits == found.commits and known.chain != found.chain
    return Loss(found, known) if is_short else None


def accept_loss(commit: LogCommit, loss: Loss, at: int) -> None:
    """Lets a log go on behind what it has lost, and records the loss."""
    marks, known = commit.marks, loss.known
    is_trimmed = known.start >= marks.end  # what the hole held was not needed any more
    commit.marks = replace(
        marks,
        start=max(marks.start, known.start) if is_trimmed else marks.start,
        end=max(marks.end, known.end),
        version=max(marks.version, known.version),
        last_at=max(marks.last_at, known.last_at),
        commits=max(marks.commits, known.commits),
        chain=known.chain,
    )
    number = commit.connection.execute("SELECT ifnull(max(number), -1) + 1 FROM losses").get
    row = (number, at, str(loss))
    commit.connection.execute("INSERT INTO losses VALUES (?, ?, ?, ?)", (*row, checksum(*row)))
    commit.chain("loss", checksum(*row))


def accepted_losses(connection: apsw.Connection) -> Iterator[str]:
    """The losses that were accepted so far, each as a sentence."""
    rows = connection.execute("SELECT number, at, CAST(what AS BLOB), checksum FROM losses")
    for number, at, what, expected in rows:
        text = what.decode(errors="replace")
        if checksum(number, at, text) != expected:
            yield f"the record of accepted loss {number} is damaged"
        else:
            moment = datetime.fromtimestamp(at / 1e6, UTC).isoformat(" ", "seconds")
            yield f"a loss was accepted at {moment}: {text}"


def _range(noun: str, start: int, end: int) -> list[str]:
    if end <= start:
        return []
    return [f"{noun} {start}" if end == start + 1 else f"{noun}s {start} to {end - 1}"]

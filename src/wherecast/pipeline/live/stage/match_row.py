"""match, for one publication: its row → the versions of subscriptions that act and are true on it.

The same as `match_share` and `join_shares` for a range of one publication, without Arrow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.pipeline.live.subscriptions.roster import Roster


@dataclass(frozen=True, slots=True)
class LoggedRow:
    """A publication that was appended to a log of one partition just now.

    Attributes:
        offset: of the publication.
        stream: its stream.
        accepted_at: when it was accepted, by the time of the log.
        row: its attributes, canonical, by declared name.
    """

    offset: int
    stream: str
    accepted_at: int
    row: Mapping[str, Any]


def match_row(row: LoggedRow, subscriptions: LiveSubscriptions) -> list[int] | None:
    """The versions that act on a publication and are true on it; None: a batch must tell."""
    found: list[int] = []
    for share in subscriptions.shares:
        own = share.match_one(row.stream, row.row, row.accepted_at)
        if own is None:
            return None
        found += own.tolist()
    return subscriptions.roster.acting_at(0, row.offset, found)


def group_row(versions: Sequence[int], roster: Roster) -> dict[str, tuple[str, ...]]:
    """The sorted ids of the subscriptions that matched, by subscriber."""
    by_name: dict[str, list[str]] = {}
    for version in versions:
        found = roster.held.name(version)
        assert found is not None, "the roster does not know a version that matched"
        by_name.setdefault(found[0], []).append(found[1])
    return {
        name: (ids[0],) if len(ids) == 1 else tuple(sorted(set(ids)))
        for name, ids in by_name.items()
    }

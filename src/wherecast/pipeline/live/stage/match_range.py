"""The stage of the live pipeline: a range of the log → its notifications.

    decode → match (each share) → rank → join → group → commit

Each step is a function of its own with one frozen type after it. This module runs the steps up to
`group`, which one process can do for all its shares; the caller commits. With one share, the task
that matches also commits.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import pyarrow as pa

from wherecast.language.meaning.row_errors import RowErrors, counting
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.stage.decode_range import decode_range
from wherecast.pipeline.live.stage.group_matches import group_matches
from wherecast.pipeline.live.stage.join_shares import join_shares
from wherecast.pipeline.live.stage.match_share import match_share
from wherecast.pipeline.live.stage.rank_matches import rank_matches
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.store.records import DeadLetter, Entry, RecordRun


@dataclass(frozen=True, slots=True, eq=False)
class MatchedRange:
    """What the stage makes of a range.

    Attributes:
        range: which publications.
        runs: the records of the range, dead letters included.
        notifications: a batch of `SEGMENT`.
        dead_letters: the publications that could not be matched, with the reason.
        figures: what the range cost.
    """

    range: Range
    runs: tuple[RecordRun, ...]
    notifications: pa.RecordBatch
    dead_letters: tuple[DeadLetter, ...]
    figures: PipelineFigures


def match_range(
    range_: Range,
    entries: Iterable[Entry],
    subscriptions: LiveSubscriptions,
    at: int,
    poison: Collection[int] = (),
) -> MatchedRange:
    """The notifications of a range of publications.

    Args:
        range_: which publications.
        entries: all that overlap the range, in order.
        subscriptions: with all changes that act on the range.
        at: the time now, for dead letters.
        poison: the offsets of publications that are left out, since they end the process.
    """
    figures, before = PipelineFigures(), subscriptions.candidates
    roster = subscriptions.roster
    with figures.timed("decode"):
        decoded = decode_range(range_, entries, roster.schemas, at, frozenset(poison))
    errors = RowErrors()
    with figures.timed("match"), counting(errors):
        found = [match_share(decoded, share, roster) for share in subscriptions.shares]
    with figures.timed("group"):
        joined = join_shares([rank_matches(matches) for matches in found])
        grouped = group_matches(joined, roster)
    figures.publications = decoded.count
    figures.matches = len(joined.offsets)
    figures.candidates = subscriptions.candidates - before
    figures.row_errors = errors.counts()
    figures.filters, figures.index_bytes = len(subscriptions), subscriptions.index_bytes
    return MatchedRange(range_, decoded.runs, grouped, decoded.dead_letters, figures)

"""rank: the matches of a share → those that are notified.

Every match of a Boolean subscription is notified. Only ranked subscriptions, of which there are
none yet, leave matches out.
"""

from dataclasses import dataclass

from wherecast.pipeline.live.stage.match_share import ShareMatches


@dataclass(frozen=True, slots=True, eq=False)
class RankedMatches:
    """The matches of a share that are notified."""

    matches: ShareMatches


def rank_matches(matches: ShareMatches) -> RankedMatches:
    """All matches."""
    return RankedMatches(matches)

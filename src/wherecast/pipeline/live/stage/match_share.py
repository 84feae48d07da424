"""match: the rows of a range and one share → the matches of the share that count."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.pipeline.live.stage.decode_range import DecodedRange
from wherecast.pipeline.live.subscriptions.roster import Roster
from wherecast.pipeline.live.subscriptions.share_index import ShareIndex

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ShareMatches:
    """Pairs of a publication and a version of a subscription, in any order.

    Versions mean the same in every process, so that the matches of shares which different processes
    hold can be joined.

    Attributes:
        offsets: of the publications; int64, shape (n,).
        versions: of the changes that made the subscriptions; int64, shape (n,).
    """

    offsets: Ints
    versions: Ints


def match_share(decoded: DecodedRange, share: ShareIndex, roster: Roster) -> ShareMatches:
    """The versions of a share that act on the publications of a range and are true on them."""
    found: list[tuple[Ints, Ints]] = []
    for rows in decoded.rows:
        counts, versions = share.match(rows.stream, rows.batch)
        if len(versions):
            offsets = np.repeat(rows.offsets, counts)
            acting = roster.acting(decoded.range.partition, offsets, versions)
            if acting is not None:
                offsets, versions = offsets[acting], versions[acting]
            found.append((offsets, versions))
    if len(found) == 1:
        return ShareMatches(*found[0])
    none = np.zeros(0, np.int64)
    return ShareMatches(
        np.concatenate([none, *(offsets for offsets, _ in found)]),
        np.concatenate([none, *(versions for _, versions in found)]),
    )

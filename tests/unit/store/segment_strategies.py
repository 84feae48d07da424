"""Segments for tests: made from plain dictionaries, and read back as such."""

from collections.abc import Mapping

import pyarrow as pa
from hypothesis import strategies as st

from wherecast.store.records import SEGMENT

Plain = dict[str, dict[int, list[str]]]
"""Notifications as people write them: subscriber → publication → subscriptions that matched."""


def segment_of(plain: Mapping[str, Mapping[int, list[str]]]) -> pa.RecordBatch:
    """The slow, obvious way to make a segment."""
    rows = []
    for subscriber in sorted(plain):
        matches = plain[subscriber]
        ids = sorted({id for matched in matches.values() for id in matched})
        rows.append(
            {
                "subscriber": subscriber,
                "subscription_ids": ids,
                "offsets": sorted(matches),
                "matched": [sorted(map(ids.index, matches[at])) for at in sorted(matches)],
            }
        )
    return pa.RecordBatch.from_pylist(rows, SEGMENT)


def plain_of(segment: pa.RecordBatch) -> Plain:
    """A segment as people write it."""
    return {
        row["subscriber"]: {
            offset: [row["subscription_ids"][place] for place in matched]
            for offset, matched in zip(row["offsets"], row["matched"], strict=True)
        }
        for row in segment.to_pylist()
    }


names = st.sampled_from(["", "a", "ab", "b", "ž", "\N{GRINNING FACE}", "z" * 40, "a\0"])


def plains(first: int, end: int) -> st.SearchStrategy[Plain]:
    """Notifications of a range of publications."""
    matched = st.lists(names, min_size=1, max_size=3, unique=True).map(sorted)
    matches = st.dictionaries(st.integers(first, end - 1), matched, min_size=1, max_size=4)
    return st.dictionaries(names, matches, max_size=5)

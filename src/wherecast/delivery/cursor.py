"""Cursors: what a subscriber acknowledged, and the text that names one notification to it."""

import re
from dataclasses import dataclass

from wherecast.model import AcknowledgementError

SEQUENCES = 2**63
"""Sequences are below this."""

_TEXT = re.compile(r"[0-7][0-9a-f]{15}")


@dataclass(frozen=True, slots=True)
class Cursor:
    """What a subscriber acknowledged.

    Attributes:
        through: every notification before this sequence is acknowledged.
        beyond: single acknowledged notifications at that sequence or after it.
        lost: number of notifications removed from the queue before they were acknowledged.
    """

    through: int = 0
    beyond: frozenset[int] = frozenset()
    lost: int = 0


def encode_cursor(sequence: int) -> str:
    """The text that names the notification of a sequence; texts sort as their sequences do."""
    if not 0 <= sequence < SEQUENCES:
        raise ValueError(f"a sequence is from 0 to {SEQUENCES - 1}, not {sequence}")
    return f"{sequence:016x}"


def decode_cursor(text: object) -> int:
    """The sequence that a text names.

    Raises:
        AcknowledgementError: no cursor is written like that.
    """
    if not isinstance(text, str) or not _TEXT.fullmatch(text):
        shown = repr(text) if len(repr(text)) <= 40 else repr(text)[:37] + "..."
        raise AcknowledgementError(f"{shown} is not a cursor", code="bad_cursor")
    return int(text, 16)

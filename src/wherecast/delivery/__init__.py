"""Delivery without I/O: queues, cursors, redelivery and flow control.

- `queues`: those of all subscribers.
- `queue`: the state of one subscriber; what happens goes in, effects come out.
- `backlog`: what it has in memory (`held`), and what was acknowledged out of order (`beyond`).
- `effects`: what the shell is asked to do.
- `cursor`: what was acknowledged, and cursors as text.
"""

from wherecast.delivery.cursor import Cursor, decode_cursor, encode_cursor
from wherecast.delivery.effects import (
    Close,
    Effect,
    Figures,
    Load,
    Notification,
    SaveCursor,
    Send,
)
from wherecast.delivery.limits import QueueLimits
from wherecast.delivery.queue import Queue
from wherecast.delivery.queues import Queues

__all__ = [
    "Close",
    "Cursor",
    "Effect",
    "Figures",
    "Load",
    "Notification",
    "Queue",
    "QueueLimits",
    "Queues",
    "SaveCursor",
    "Send",
    "decode_cursor",
    "encode_cursor",
]

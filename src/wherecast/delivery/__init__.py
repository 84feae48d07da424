"""Delivery without I/O: queues, cursors, redelivery and flow control.

- `queues`: those of all subscribers.
- `queue`: the state of one subscriber; what happens goes in, effects come out.
- `held` and `beyond`: what it has in memory, and what was acknowledged out of order.
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
from wherecast.delivery.queue import Queue, QueueLimits
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

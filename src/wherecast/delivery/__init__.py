"""Delivery without I/O: queues, cursors, redelivery and flow control.

Around it is a shell. It calls a method, under a lock where there are threads, and does what comes
back, for each subscriber in the order in which it came. A batch of the pipeline is told twice: with
its notifications as soon as they are there (`notified`), and once it is in the store (`committed`).
Only the first can be left out.

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
    LoadNotifications,
    Notification,
    QueueFigures,
    SaveCursor,
    Send,
)
from wherecast.delivery.queue import Queue
from wherecast.delivery.queue_limits import DEFAULT_QUEUE_LIMITS, QueueLimits
from wherecast.delivery.queues import Queues

__all__ = [
    "DEFAULT_QUEUE_LIMITS",
    "Close",
    "Cursor",
    "Effect",
    "LoadNotifications",
    "Notification",
    "Queue",
    "QueueFigures",
    "QueueLimits",
    "Queues",
    "SaveCursor",
    "Send",
    "decode_cursor",
    "encode_cursor",
]

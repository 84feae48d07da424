"""Delivery without I/O: queues, cursors, redelivery and flow control.

Around it is a shell. The shell calls a method, under a lock where there are threads, and performs
the effects that come back, for each subscriber in the order in which they came. A batch of the
pipeline comes twice: with its notifications as soon as they are there (`notified`), and once it is
in the store (`committed`). Only the first can be left out.

- `dispatcher`: all decisions of a delivering side, for its shell.
- `queues`: the queues of all subscribers.
- `queue`: the state of one subscriber; events go in, effects come out.
- `backlog`: what a queue has in memory (`queue_items`), and what was acknowledged out of order
  (`single_acks`).
- `effects`: what the shell is asked to do.
- `cursor`: what was acknowledged, and cursors as text.
"""

from wherecast.delivery.cursor import Cursor, decode_cursor, encode_cursor
from wherecast.delivery.dispatcher import DispatchEffects, Dispatcher
from wherecast.delivery.effects import (
    Close,
    Effect,
    LoadNotifications,
    QueuedNotification,
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
    "DispatchEffects",
    "Dispatcher",
    "Effect",
    "LoadNotifications",
    "Queue",
    "QueueFigures",
    "QueueLimits",
    "QueuedNotification",
    "Queues",
    "SaveCursor",
    "Send",
    "decode_cursor",
    "encode_cursor",
]

"""Notifications on their way out: queues over a store, cursors, retention."""

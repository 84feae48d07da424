"""Segments of notifications: columns, files, merging, and the queues read from them."""

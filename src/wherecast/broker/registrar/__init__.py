"""Streams, subscribers and subscriptions: checked, then written to the log as changes."""

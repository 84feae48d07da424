"""The command `wherecast`: wiring only."""

from wherecast.cli.entry import main

__all__ = ["main"]

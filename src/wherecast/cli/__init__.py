"""The command `wherecast`: options, wiring and output."""

from wherecast.cli.entry import main

__all__ = ["main"]

"""The command `wherecast`: wiring only."""

from wherecast.cli.main import main

__all__ = ["main"]

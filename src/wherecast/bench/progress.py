"""What an experiment gives: rows, what it does before the next, and which columns to show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Doing:
    """What an experiment is about to do, for whoever waits."""

    what: str


@dataclass(frozen=True, slots=True)
class View:
    """A table on screen.

    Attributes:
        needs: the column that a row must have to be in it.
        columns: the columns it has, with their headings.
    """

    needs: str
    columns: Mapping[str, str]

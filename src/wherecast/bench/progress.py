"""The results of experiments: rows, progress messages, and the columns of tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Doing:
    """The next step of an experiment, for the progress line."""

    what: str


@dataclass(frozen=True, slots=True)
class View:
    """A table on screen.

    Attributes:
        needs: the column that a row must have to be in the table.
        columns: the columns of the table, with their headings.
    """

    needs: str
    columns: Mapping[str, str]

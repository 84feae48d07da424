"""What a kind of index does behind `wc.Index`, and what only some kinds can do besides.

Every kind is an `Engine`. The other protocols are capabilities: `wc.Index` asks with `isinstance`
whether its engine has one. `wherecast.matching.kinds` tells which kinds have which.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.language import Filter
from wherecast.matching.ids import Ids
from wherecast.matching.matches import Id, Matches, RowMatches

if TYPE_CHECKING:  # these load the kernels of a tree
    from wherecast.matching.trees.betree.branch import Branch, BranchFigures


class Engine(Protocol):
    """What every kind of index does. `wc.Index` checks ids and schemas before it calls."""

    def __len__(self) -> int: ...

    def __contains__(self, id: Id) -> bool: ...

    def add(self, id: Id, filter: Filter | str) -> None:
        """Adds a filter, or replaces the filter of the same id; raises `FilterError`."""

    def read(self, filters: Any) -> Any:
        """The filters in the form that `add_all` takes.

        The attribute `rejected` of the result lists the row and the error of each bad filter.
        """

    def add_all(self, ids: Ids, read: Any, kept: npt.NDArray[np.bool_] | None) -> None:
        """Adds the filters of the rows in `kept` (None: of all rows); none of them is bad."""

    def remove_all(self, ids: Sequence[Id]) -> None:
        """Removes the filters of distinct ids, all or none; raises `KeyError`."""

    def match(self, batch: pa.RecordBatch) -> Matches:
        """The filters that are true on each publication of a valid batch."""

    def stats(self) -> dict[str, Any]:
        """Figures of this kind of index."""

    def explain_plan(self) -> str:
        """How the index is laid out and searched, in lines of text."""

    @property
    def candidates(self) -> int:
        """Number of filters that were tried one by one so far, over all publications."""

    @property
    def nbytes(self) -> int:
        """Bytes of the filters and of the structure over them."""


@runtime_checkable
class RowMatching(Protocol):
    """An engine that matches one publication without a batch, where nothing about it is unusual."""

    def match_one(self, row: Mapping[str, Any], now: int) -> RowMatches | None:
        """The filters that are true on a publication; None: a batch of one must tell.

        Args:
            row: the attributes of the publication, as they came.
            now: the value of `now()`, microseconds since 1970.
        """


@runtime_checkable
class Drawable(Protocol):
    """An engine that can draw itself."""

    def to_dot(self) -> str:
        """A picture in the language of Graphviz; raises `ConfigError` for a large index."""

    def to_svg(self) -> str:
        """A picture as SVG; raises `ConfigError` for a large index."""


@runtime_checkable
class Savable(Protocol):
    """An engine that can be written to a file."""

    def save(self, path: Path) -> str:
        """Writes the index to a file, whole or not at all; returns its content id."""


@runtime_checkable
class Covering(Protocol):
    """An engine that knows which filters cover which."""

    def covering_set(self) -> list[Id]:
        """The sorted ids of the filters that no other filter covers.

        Filters that say the same in the same form are all in the set. Of filters that cover each
        other but differ in form, such as `a IN (6, 7)` and `a BETWEEN 6 AND 7` of an int, one is.
        """

    def withdraw(self, id: Id) -> list[Id]:
        """Removes a filter; returns the sorted ids of the filters that enter the covering set.

        Raises:
            KeyError: there is no filter of that id.

        Source: PADRES, section 3.1 (A1.4 of the spec).
        """


@runtime_checkable
class Branching(Protocol):
    """An engine whose filters lie in branches that can move to another index."""

    def branches(self) -> "list[BranchFigures]":
        """The figures of each branch, the largest branch first."""

    def cut(self, attribute: str, type: str | None = None) -> "Branch":
        """Cuts a branch off: its filters leave this index.

        Args:
            attribute: the name of the attribute that the branch partitions.
            type: the type of that attribute; needed where branches of two types share the name.

        Raises:
            KeyError: there is no such branch.
            ConfigError: several branches have that name.
        """

    def graft(self, branch: "Branch") -> None:
        """Adds the filters of a branch, with its nodes where the attribute has no branch here.

        Raises:
            ConfigError: an id is in the index already, or the index has ids of another type;
                nothing changed.
            SnapshotError: the branch is damaged or does not fit the schema; nothing changed.
        """

    def time_branches(
        self, batch: pa.RecordBatch, clock: Callable[[], int]
    ) -> tuple[Matches, dict[tuple[str, str], int]]:
        """The matches of a batch, found branch by branch, and the clock's count for each branch.

        A branch is named by its attribute and type; filters outside all branches are named by two
        empty strings. Neither `stats` nor Loss counts these publications.

        Args:
            batch: valid publications. Positions off the globe find only the filters whose boxes
                enclose them.
            clock: read before and after each branch.
        """

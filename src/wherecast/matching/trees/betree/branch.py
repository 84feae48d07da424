"""Branches: a p-node of the root with all below it, cut off, sent as Arrow, and grafted.

A branch is what elasticity moves: matched apart, together with the rest it gives what the whole
tree gives.

Source: elastic BE-Tree, sections 5.4 and 6.2 (F28 and F54 of the spec).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from wherecast.arrays.vectors import array_of, texts_of, values_of
from wherecast.matching.ids import Ids
from wherecast.matching.trees.betree.listing import FIELDS, PARTITION, Listing
from wherecast.model import Schema, SnapshotError
from wherecast.model.values import TYPES

_ABOUT, _NODES = b"wherecast.branch", b"wherecast.nodes"
_FORMAT = 2
_UNREADABLE = (OSError, KeyError, TypeError, ValueError)  # pyarrow's and json's are among these


@dataclass(frozen=True, slots=True)
class BranchFigures:
    """The figures of a branch that is part of a tree.

    Attributes:
        attribute, type: name and type of the attribute that the branch partitions; in an open
            schema, one name may have several types.
        subscriptions: the number of its filters.
        checked: how often one of its filters was tried on a publication.
        score: the score by which insertion compares branches.
    """

    attribute: str
    type: str
    subscriptions: int
    checked: int
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A branch that was cut off.

    Attributes:
        attributes: names and types of the attributes that its nodes name; the first partitions it.
        listing: its nodes.
        ids, texts: of its filters.
        places: int32 [filters], the row of the c-node in the listing.
        sampled: publications of which the listing has the candidates that did not match.
    """

    attributes: tuple[tuple[str, str], ...]
    listing: Listing
    ids: Ids
    texts: list[str]
    places: np.ndarray[tuple[int], np.dtype[np.int32]]
    sampled: int

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def attribute(self) -> str:
        """The name of the attribute that the branch partitions."""
        return self.attributes[0][0]

    @property
    def type(self) -> str:
        """The type of the attribute that the branch partitions."""
        return self.attributes[0][1]

    def to_arrow(self) -> pa.Table:
        """The branch as a table of its filters; the nodes are in the metadata of its schema."""
        nodes = pa.table({name: array_of(c) for name, c in self.listing.columns().items()})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, nodes.schema) as out:
            out.write_table(nodes)
        about = json.dumps(
            {
                "format": _FORMAT,
                "attributes": self.attributes,
                "nodes": len(self.listing),
                "filters": len(self),
                "sampled": self.sampled,
            }
        )
        table = pa.table(
            {"id": self.ids.array, "filter": texts_of(self.texts), "node": array_of(self.places)}
        )
        return table.replace_schema_metadata(
            {_ABOUT: about.encode(), _NODES: sink.getvalue().to_pybytes()}
        )

    @staticmethod
    def from_arrow(table: pa.Table) -> "Branch":
        """The branch in a table.

        Raises:
            SnapshotError: it has none, a part of one, or one of another format.
        """
        metadata = table.schema.metadata or {}
        if _ABOUT not in metadata or _NODES not in metadata:
            raise SnapshotError("the table has no branch")
        try:
            about = json.loads(metadata[_ABOUT])
            if about["format"] != _FORMAT:
                raise SnapshotError(
                    f"the branch has format {about['format']}, this reads {_FORMAT}"
                )
            return _read(about, metadata[_NODES], table)
        except _UNREADABLE as error:
            raise SnapshotError(f"the branch cannot be read: {error}") from None

    def serialise(self) -> pa.Buffer:
        """The branch as an Arrow stream."""
        table, sink = self.to_arrow(), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as out:
            out.write_table(table)
        return sink.getvalue()

    @staticmethod
    def deserialise(data: pa.Buffer | bytes) -> "Branch":
        """The branch in an Arrow stream.

        Raises:
            SnapshotError: there is none.
        """
        try:
            with pa.ipc.open_stream(data) as stream:
                return Branch.from_arrow(stream.read_all())
        except _UNREADABLE as error:
            raise SnapshotError(f"the branch cannot be read: {error}") from None


def _read(about: dict[str, Any], data: bytes, table: pa.Table) -> Branch:
    """The branch in a table, from its header and its nodes; raises where a part is missing."""
    with pa.ipc.open_stream(data) as stream:
        nodes = stream.read_all().combine_chunks()
    if (nodes.num_rows, table.num_rows) != (about["nodes"], about["filters"]):
        raise ValueError("it ends before all of its nodes or filters")
    if not nodes.num_rows or not about["attributes"]:
        raise ValueError("it has no nodes")
    columns = {name: values_of(nodes.column(name).combine_chunks()) for name in FIELDS}
    ids, texts, places = (table.column(name).combine_chunks() for name in ("id", "filter", "node"))
    attributes = tuple((name, kind) for name, kind in about["attributes"])
    return Branch(
        attributes, Listing.of(columns), Ids(ids), texts.to_pylist(),
        np.array(values_of(places), np.int32), max(0, int(about["sampled"])),
    )  # fmt: skip


def named(
    listing: Listing, names: Sequence[tuple[str, str]]
) -> tuple[Listing, tuple[tuple[str, str], ...]]:
    """The listing with its attributes numbered in the order of its nodes, and their names.

    Args:
        listing: with the slots of a tree.
        names: and types of all slots of the tree.
    """
    rows = listing.kind == PARTITION
    numbers: dict[int, int] = {}
    for slot in listing.slot[rows].tolist():
        numbers.setdefault(slot, len(numbers))
    slots = listing.slot.copy()
    slots[rows] = [numbers[slot] for slot in listing.slot[rows].tolist()]
    return replace(listing, slot=slots), tuple(names[slot] for slot in numbers)


def check_schema(branch: Branch, schema: Schema) -> None:
    """Raises `SnapshotError` unless a schema has the attributes of a branch, of the same types."""
    for name, kind in branch.attributes:
        if kind not in TYPES:  # derived: its filters, which are read, name what it is made of
            continue
        declared = schema.find(name)
        if declared is None and not schema.open:
            raise SnapshotError(f"the branch names {name}, which the schema does not have")
        if declared is not None and (declared.name, declared.type) != (name, kind):
            raise SnapshotError(
                f"the branch has {name} as {kind}, the schema {declared.name} as {declared.type}"
            )

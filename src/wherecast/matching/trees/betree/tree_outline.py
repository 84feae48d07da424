"""A BE-Tree as nested records, read from its arrays: for pictures, for people and for tests."""

from collections.abc import Iterator
from dataclasses import dataclass

from wherecast.matching.trees.betree.layout import CNODE, PNODE, ROOT, Tree
from wherecast.matching.trees.items import ITEM


@dataclass(frozen=True, slots=True)
class BucketView:
    """A c-node with its l-node; all but the root have an interval of keys.

    Attributes:
        number: of the c-node.
        low, high: its least and greatest key.
        entries: the filters of its l-node, in order.
        room: how many it may hold.
        equal, inside: predicates of the l-node subsumed and covered by the keys above.
        halves: none or two.
        parts: its p-nodes, by slot.
    """

    number: int
    low: int
    high: int
    entries: tuple[int, ...]
    room: int
    equal: int
    inside: int
    halves: "tuple[BucketView, ...]"
    parts: "tuple[PartView, ...]"


@dataclass(frozen=True, slots=True)
class PartView:
    """A p-node.

    Attributes:
        number: of the p-node.
        slot: of its attribute.
        count, equal, inside: filters, subsumed and covered predicates of its branch.
        root: the bucket that spans its domain.
    """

    number: int
    slot: int
    count: int
    equal: int
    inside: int
    root: BucketView


def outline(tree: Tree, c: int = ROOT) -> BucketView:
    """A c-node and all below it."""
    start, count = int(tree.c[c, CNODE.START]), int(tree.c[c, CNODE.COUNT])
    halves = (
        (int(tree.c[c, CNODE.LEFT]), int(tree.c[c, CNODE.RIGHT]))
        if tree.c[c, CNODE.LEFT] >= 0
        else ()
    )
    parts = sorted(parts_of(tree, c), key=lambda p: int(tree.p[p, PNODE.SLOT]))
    return BucketView(
        number=c,
        low=int(tree.c[c, CNODE.LOW]),
        high=int(tree.c[c, CNODE.HIGH]),
        entries=tuple(sorted(tree.i[start : start + count, ITEM.NUMBER].tolist())),
        room=int(tree.c[c, CNODE.ROOM]),
        equal=int(tree.c[c, CNODE.EQUAL]),
        inside=int(tree.c[c, CNODE.INSIDE]),
        halves=tuple(outline(tree, half) for half in halves),
        parts=tuple(outline_part(tree, p) for p in parts),
    )


def outline_part(tree: Tree, p: int) -> PartView:
    """A p-node and all below it."""
    return PartView(
        number=p,
        slot=int(tree.p[p, PNODE.SLOT]),
        count=int(tree.p[p, PNODE.COUNT]),
        equal=int(tree.p[p, PNODE.EQUAL]),
        inside=int(tree.p[p, PNODE.INSIDE]),
        root=outline(tree, int(tree.p[p, PNODE.ROOT])),
    )


def parts_of(tree: Tree, c: int) -> Iterator[int]:
    """The p-nodes of a c-node."""
    p = int(tree.c[c, CNODE.FIRST])
    while p >= 0:
        yield p
        p = int(tree.p[p, PNODE.NEXT])


def buckets_of(view: BucketView) -> Iterator[BucketView]:
    """A c-node and all c-nodes below it."""
    yield view
    for half in view.halves:
        yield from buckets_of(half)
    for part in view.parts:
        yield from buckets_of(part.root)

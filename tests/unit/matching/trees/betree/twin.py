"""The obvious twin of the BE-Tree: plain objects, one per node, and the rules in words.

It is what the flat arrays and their kernels are compared with: after the same insertions and
removals both have the same nodes, the same filters in the same l-nodes and the same scores. It
decides nothing: `candidates` gives the filters that would be tried.

Source: elastic BE-Tree, sections 2.2 and 6.2 (algorithms A4 to A10 of the spec).
"""

from collections.abc import Iterator, Mapping
from math import inf, isnan

from tests.unit.matching.trees.betree.twin_nodes import (
    Box,
    Bucket,
    ClusterNode,
    Domain,
    LeafNode,
    PartitionNode,
    halve,
)
from wherecast.matching.trees.betree.parameters import TreeParameters


class TwinTree:
    """A BE-Tree of boxes by number."""

    def __init__(self, parameters: TreeParameters, domains: Mapping[int, Domain]) -> None:
        self._parameters = parameters
        self._domains = domains
        self._places: dict[int, ClusterNode] = {}
        self.root = ClusterNode(None, self._leaf())

    def _leaf(self) -> LeafNode:
        return LeafNode(room=self._parameters.leaf_max)

    # --- insertion

    def insert(self, number: int, box: Box) -> None:
        """Puts a filter where the insertion rule leads, then splits what is over its capacity."""
        node = self.root
        while (part := self._best(node, box)) is not None:
            bucket = part.root
            while bucket.halves is not None:
                inside = [half for half in bucket.halves if half.encloses(box[part.slot])]
                if not inside:
                    break
                [bucket] = inside
            node = bucket.node
        self._put(node, number, box)
        self._split(node)

    def _best(self, node: ClusterNode, box: Box) -> PartitionNode | None:
        """The p-node with the highest score among those whose attribute the filter uses."""
        usable = [part for slot, part in sorted(node.parts.items()) if slot in box]
        return max(usable, key=self.score, default=None)

    def _put(self, node: ClusterNode, number: int, box: Box) -> None:
        node.leaf.filters[number] = box
        self._places[number] = node

    def _split(self, node: ClusterNode) -> None:
        """Clusters the bucket of a c-node that is over its capacity, then partitions it."""
        if len(node.leaf.filters) <= node.leaf.room:
            return
        halves: list[Bucket] = []
        while len(node.leaf.filters) > node.leaf.room:
            made = self._cluster(node)
            halves += made
            if made:
                continue
            slot = self._attribute(node)
            if slot is None:
                node.leaf.room = self._capacity(len(node.leaf.filters))
                break
            self._partition(node, slot)
        for half in halves:
            self._split(half.node)

    def _capacity(self, count: int) -> int:
        """The next multiple of the greatest size."""
        most = self._parameters.leaf_max
        return max(most, -(-count // most) * most)

    def _cluster(self, node: ClusterNode) -> tuple[Bucket, ...]:
        """Halves a leaf bucket where some of its filters fit into a half."""
        bucket = node.bucket
        if bucket is None or bucket.halves or bucket.depth >= self._parameters.depth_max:
            return ()
        slot = bucket.part.slot
        boxes = list(node.leaf.filters.values())
        first, last = self._reach(bucket, [box[slot] for box in boxes])
        middle = halve(self._domains[slot], first, last)
        if middle is None or not bucket.low <= middle.split < bucket.high:
            return ()
        made = (
            Bucket(bucket.part, bucket, bucket.low, middle.split, first, middle.left),
            Bucket(bucket.part, bucket, middle.split + 1, bucket.high, middle.right, last),
        )
        moving = {
            number: half
            for number, box in node.leaf.filters.items()
            for half in made
            if half.encloses(box[slot])
        }
        if not moving:
            return ()
        bucket.halves = made
        for half in made:
            half.node = ClusterNode(half, self._leaf())
        for number, half in moving.items():
            self._put(half.node, number, node.leaf.filters.pop(number))
        return made

    def _reach(self, bucket: Bucket, sides: list[tuple[int, int]]) -> tuple[float, float]:
        """The numbers whose middle halves a bucket; at an open end those of its filters."""
        domain = self._domains[bucket.part.slot]
        ends = [domain.number(end) for side in sides for end in side]
        numbers = [number for number in ends if number is not None]
        below = bucket.low == domain.least and isnan(domain.first)
        above = bucket.high == domain.most and isnan(domain.last)
        first = min(numbers, default=inf) if below else bucket.first
        last = max(numbers, default=-inf) if above else bucket.last
        return first, last

    def _attribute(self, node: ClusterNode) -> int | None:
        """The attribute that most filters use, of those that partition nothing here or above.

        Of attributes that are used alike, the one that spreads the filters best.
        """
        used = {part.slot for part in self._above(node)} | node.parts.keys()
        counts: dict[int, int] = {}
        for box in node.leaf.filters.values():
            for slot in box.keys() - used:
                counts[slot] = counts.get(slot, 0) + 1
        usable = {s: count for s, count in counts.items() if count >= self._parameters.leaf_min}
        return min(
            usable, key=lambda slot: (-usable[slot], self._crowd(node, slot), slot), default=None
        )

    def _crowd(self, node: ClusterNode, slot: int) -> int:
        """How many filters would meet in a new p-node: those that stay, and the fuller half."""
        domain = self._domains[slot]
        sides = [box[slot] for box in node.leaf.filters.values() if slot in box]
        numbers = [n for side in sides for end in side if (n := domain.number(end)) is not None]
        first = min(numbers, default=inf) if isnan(domain.first) else domain.first
        last = max(numbers, default=-inf) if isnan(domain.last) else domain.last
        middle = halve(domain, first, last)
        if middle is None:
            return len(sides)
        left = sum(high <= middle.split for _, high in sides)
        right = sum(low > middle.split for low, _ in sides)
        return len(sides) - left - right + max(left, right)

    def _partition(self, node: ClusterNode, slot: int) -> None:
        """Makes a p-node and moves all filters to it that use its attribute."""
        domain = self._domains[slot]
        part = node.parts[slot] = PartitionNode(slot, node)
        part.root = Bucket(part, None, domain.least, domain.most, domain.first, domain.last)
        part.root.node = ClusterNode(part.root, self._leaf())
        for number, box in list(node.leaf.filters.items()):
            if slot in box:
                self._put(part.root.node, number, node.leaf.filters.pop(number))
        self._split(part.root.node)

    # --- removal

    def remove(self, number: int) -> None:
        """Takes a filter out, folds halves that have few filters, drops what is empty."""
        node = self._places.pop(number)
        del node.leaf.filters[number]
        if len(node.leaf.filters) + self._parameters.leaf_max <= node.leaf.room:
            node.leaf.room = self._capacity(len(node.leaf.filters))
        while node.bucket is not None:
            part = node.bucket.part
            self._fold(node.bucket)
            over = node.bucket.over
            while over is not None and self._fold(over):
                over = over.over
            if any(leaf.filters for _, leaf in self._leaves(part.root)):
                return
            del part.owner.parts[part.slot]
            node = part.owner

    def _fold(self, bucket: Bucket) -> bool:
        """Folds the halves of a bucket into it where the merge rule says so."""
        if bucket.halves is None or not all(half.is_plain() for half in bucket.halves):
            return False
        leaves = [half.node.leaf for half in bucket.halves]
        total = sum(len(leaf.filters) for leaf in leaves)
        together = total + len(bucket.node.leaf.filters)
        few = not bucket.node.parts and together <= self._parameters.leaf_min
        if total and not few:
            return False
        for leaf in leaves:
            for number, box in leaf.filters.items():
                self._put(bucket.node, number, box)
        bucket.halves = None
        return True

    # --- what can be read

    def score(self, part: PartitionNode) -> float:
        """The Gain of a p-node's branch; Loss is not sampled here."""
        equal, inside = self.gains(part)
        beta = self._parameters.beta
        return (1.0 - self._parameters.alpha) * ((1.0 - beta) * equal + beta * inside)

    def gains(self, part: PartitionNode) -> tuple[int, int]:
        """The predicates of a branch that equal a key above them, and those inside one."""
        equal = inside = 0
        for node, leaf in self._leaves(part.root):
            keys = self._keys(node)
            for box in leaf.filters.values():
                same = sum(box[slot] == key for slot, key in keys.items())
                equal, inside = equal + same, inside + len(keys) - same
        return equal, inside

    def _keys(self, node: ClusterNode) -> dict[int, tuple[int, int]]:
        """The intervals of the buckets above a c-node, by slot."""
        found: dict[int, tuple[int, int]] = {}
        while node.bucket is not None:
            found[node.bucket.part.slot] = (node.bucket.low, node.bucket.high)
            node = node.bucket.part.owner
        return found

    def _above(self, node: ClusterNode) -> Iterator[PartitionNode]:
        while node.bucket is not None:
            yield node.bucket.part
            node = node.bucket.part.owner

    def _leaves(self, bucket: Bucket) -> Iterator[tuple[ClusterNode, LeafNode]]:
        """The c-nodes and l-nodes of a bucket and all below it."""
        yield bucket.node, bucket.node.leaf
        for half in bucket.halves or ():
            yield from self._leaves(half)
        for part in bucket.node.parts.values():
            yield from self._leaves(part.root)

    def candidates(self, keys: Mapping[int, int]) -> set[int]:
        """The filters that a publication with those keys is tried on."""
        found: set[int] = set()
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            found |= node.leaf.filters.keys()
            waiting += [part.root.node for slot, part in node.parts.items() if slot in keys]
            if node.bucket is not None and node.bucket.halves is not None:
                left, right = node.bucket.halves
                key = keys[node.bucket.part.slot]
                waiting.append(left.node if key <= left.high else right.node)
        return found

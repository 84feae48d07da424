"""A BE-Tree as shapes of a picture: p-nodes with their attribute, c-nodes with their filters."""

from collections.abc import Sequence

from wherecast.language.meaning.keys import value_of
from wherecast.matching.matches import Id
from wherecast.matching.trees.betree.tree_outline import BucketView, PartView
from wherecast.matching.trees.key_slots import Slots
from wherecast.matching.trees.tree_pictures import PictureNode
from wherecast.model.times import format_time
from wherecast.model.values import shown

_IDS_MAX = 6  # shown of one l-node


def shape_of(view: BucketView, slots: Slots, ids: Sequence[Id], slot: int = -1) -> PictureNode:
    """The shape of a c-node and all below it.

    Args:
        view: the c-node.
        slots: of the tree.
        ids: of all entries.
        slot: whose bucket it is; -1 for the root.
    """
    first = "root" if slot < 0 else f"{slots.attributes[slot].name} {_span(view, slots, slot)}"
    halves = [shape_of(half, slots, ids, slot) for half in view.halves]
    parts = [_part(part, slots, ids) for part in view.parts]
    return PictureNode("c", (first, _listed([ids[e] for e in view.entries])), (*halves, *parts))


def _part(part: PartView, slots: Slots, ids: Sequence[Id]) -> PictureNode:
    title = f"{slots.attributes[part.slot].name}: {part.count}"
    counts = f"{part.equal} equal, {part.inside} inside"
    return PictureNode("p", (title, counts), (shape_of(part.root, slots, ids, part.slot),))


def _listed(ids: Sequence[Id]) -> str:
    first = ", ".join(str(id) for id in ids[:_IDS_MAX])
    return first + (f", … {len(ids)}" if len(ids) > _IDS_MAX else "") if ids else "–"


def _span(view: BucketView, slots: Slots, slot: int) -> str:
    return f"{_end(slots, slot, view.low)} … {_end(slots, slot, view.high)}"


def _end(slots: Slots, slot: int, key: int) -> str:
    """The end of an interval as people write it."""
    attribute, domains = slots.attributes[slot], slots.domains()
    if attribute.values is not None:
        return attribute.values[key]
    if attribute.type == "string":
        return f"#{max(0, key) >> 46:04x}"
    if key == domains.least[slot] and domains.first[slot] != domains.first[slot]:
        return "-∞"
    if key == domains.most[slot] and domains.last[slot] != domains.last[slot]:
        return "∞"
    if attribute.type == "timestamp":
        return format_time(key)
    value = value_of(attribute.type, key)
    return f"{value:g}" if isinstance(value, float) else shown(attribute, value)

"""Pictures of small trees: DOT for Graphviz, and SVG without any further program."""

from dataclasses import dataclass, field
from html import escape

from wherecast.model import ConfigError

SHAPES_MAX = 500
LEVELS_MAX = 100
_CHAR, _LINE, _PAD, _GAP, _LEVEL = 6.6, 15.0, 7.0, 14.0, 34.0
_FILLS = {"c": "#e8eef7", "p": "#f7efd9", "n": "#e6f2e8"}


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A node of a picture.

    Attributes:
        kind: `c`, `p` or `n`: a c-node, a p-node, a node of a forest.
        lines: what stands in it.
        below: the nodes that it points to.
    """

    kind: str
    lines: tuple[str, ...]
    below: "tuple[PictureNode, ...]" = ()


@dataclass(slots=True)
class _Placed:
    """A shape with its place.

    Attributes:
        left, top: of the shape; left within its part first, which is all below it too.
        part: where its part begins, within that of the shape above first.
        part_width: of its part.
    """

    shape: PictureNode
    width: float
    height: float
    left: float = 0.0
    top: float = 0.0
    part: float = 0.0
    part_width: float = 0.0
    below: "list[_Placed]" = field(default_factory=list)

    @property
    def middle(self) -> float:
        return self.left + self.width / 2


def dot_of(shape: PictureNode) -> str:
    """The picture in the language of Graphviz."""
    lines = ["digraph tree {", '  node [shape=box, fontname="monospace", style=filled];']
    count = 0
    waiting: list[tuple[PictureNode, int]] = [(shape, -1)]
    while waiting:
        one, above = waiting.pop()
        label = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in one.lines)
        form = "ellipse" if one.kind == "p" else "box"
        lines.append(f'  n{count} [label="{label}", shape={form}, fillcolor="{_FILLS[one.kind]}"];')
        if above >= 0:
            lines.append(f"  n{above} -> n{count};")
        waiting += [(below, count) for below in reversed(one.below)]
        count += 1
    return "\n".join([*lines, "}", ""])


def svg_of(shape: PictureNode) -> str:
    """The picture as SVG, the root at the top."""
    placed = _placed(shape)
    width = placed[0].part_width
    height = max(one.top + one.height for one in placed)
    size = f'width="{width + 2 * _PAD:.0f}" height="{height + 2 * _PAD:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="11">',
        f'<g transform="translate({_PAD:.0f} {_PAD:.0f})" stroke="#445" fill="none">',
    ]
    for one in placed:
        for below in one.below:
            y = (one.top + one.height, below.top)
            parts.append(f'<path d="M{one.middle:.1f} {y[0]:.1f} L{below.middle:.1f} {y[1]:.1f}"/>')
    for one in placed:
        radius = one.height / 2 if one.shape.kind == "p" else 3.0
        parts.append(
            f'<rect x="{one.left:.1f}" y="{one.top:.1f}" width="{one.width:.1f}"'
            f' height="{one.height:.1f}" rx="{radius:.1f}" fill="{_FILLS[one.shape.kind]}"/>'
        )
        for place, line in enumerate(one.shape.lines):
            y_text = one.top + _PAD + _LINE * (place + 0.75)
            parts.append(
                f'<text x="{one.middle:.1f}" y="{y_text:.1f}" text-anchor="middle" stroke="none"'
                f' fill="#112">{escape(line)}</text>'
            )
    return "\n".join([*parts, "</g>", "</svg>", ""])


def check_size(nodes: int, levels: int = 0) -> None:
    """Raises where a tree is too large to be drawn, or too deep."""
    if nodes > SHAPES_MAX:
        raise ConfigError(f"a tree of {nodes:,} nodes is not drawn; at most {SHAPES_MAX} are")
    if levels > LEVELS_MAX:
        raise ConfigError(f"a tree of {levels:,} levels is not drawn; at most {LEVELS_MAX} are")


def _placed(shape: PictureNode) -> list[_Placed]:
    """A shape and all below it with their places, each after the one above it.

    Without recursion: a chain of shapes may be longer than Python's stack.
    """
    placed: list[_Placed] = []
    waiting = [_sized(shape)]
    while waiting:
        one = waiting.pop()
        one.below = [_sized(below) for below in one.shape.below]
        placed.append(one)
        waiting += reversed(one.below)
    for one in reversed(placed):
        _spread(one)
    for one in placed:
        one.left += one.part
        for below in one.below:
            below.part += one.part
            below.top = one.top + one.height + _LEVEL
    return placed


def _sized(shape: PictureNode) -> _Placed:
    width = 2 * _PAD + _CHAR * max((len(line) for line in shape.lines), default=1)
    width += 2 * _PAD if shape.kind == "p" else 0.0
    height = 2 * _PAD + _LINE * len(shape.lines)
    return _Placed(shape, width, height)


def _spread(one: _Placed) -> None:
    """Puts the parts below a node side by side, and the node above the middle of them."""
    end = 0.0
    for below in one.below:
        below.part = end + _GAP if end else 0.0
        end = below.part + below.part_width
    if one.below:
        first, last = one.below[0], one.below[-1]
        one.left = (first.part + first.middle + last.part + last.middle) / 2 - one.width / 2
    if one.left < 0:
        for below in one.below:
            below.part -= one.left
        end -= one.left
        one.left = 0.0
    one.part_width = max(end, one.left + one.width)

"""Pictures of small trees: DOT for Graphviz, and SVG without any further program."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from wherecast.model import ConfigError

SHAPES_MAX = 500
_CHAR, _LINE, _PAD, _GAP, _LEVEL = 6.6, 15.0, 7.0, 14.0, 34.0
_FILLS = {"c": "#e8eef7", "p": "#f7efd9", "n": "#e6f2e8"}


@dataclass(frozen=True, slots=True)
class Shape:
    """A node of a picture.

    Attributes:
        kind: `c`, `p` or `n`: a c-node, a p-node, a node of a forest.
        lines: what stands in it.
        below: the nodes that it points to.
    """

    kind: str
    lines: tuple[str, ...]
    below: "tuple[Shape, ...]" = ()


@dataclass(slots=True)
class _Placed:
    shape: Shape
    width: float
    height: float
    left: float = 0.0
    top: float = 0.0
    below: "list[_Placed]" = field(default_factory=list)

    @property
    def middle(self) -> float:
        return self.left + self.width / 2


def dot_of(shape: Shape) -> str:
    """The picture in the language of Graphviz."""
    lines = ["digraph tree {", '  node [shape=box, fontname="monospace", style=filled];']
    count = 0
    waiting: list[tuple[Shape, int]] = [(shape, -1)]
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


def svg_of(shape: Shape) -> str:
    """The picture as SVG, the root at the top."""
    root = _sized(shape)
    width = _spread(root, 0.0)
    _level(root, 0.0)
    placed = list(_each(root))
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


def check_size(nodes: int) -> None:
    """Raises where a tree is too large to be drawn."""
    if nodes > SHAPES_MAX:
        raise ConfigError(f"a tree of {nodes:,} nodes is not drawn; at most {SHAPES_MAX} are")


def _sized(shape: Shape) -> _Placed:
    width = 2 * _PAD + _CHAR * max((len(line) for line in shape.lines), default=1)
    width += 2 * _PAD if shape.kind == "p" else 0.0
    height = 2 * _PAD + _LINE * len(shape.lines)
    return _Placed(shape, width, height, below=[_sized(one) for one in shape.below])


def _spread(one: _Placed, left: float) -> float:
    """Puts a node above the middle of what is below it; returns where its part ends."""
    if not one.below:
        one.left = left
        return left + one.width
    end = left
    for below in one.below:
        end = _spread(below, end if end == left else end + _GAP)
    one.left = (one.below[0].middle + one.below[-1].middle) / 2 - one.width / 2
    if one.left < left:
        _shift(one, left - one.left)
    return max(end, one.left + one.width, *(_right(below) for below in one.below))


def _right(one: _Placed) -> float:
    return max([one.left + one.width, *(_right(below) for below in one.below)])


def _shift(one: _Placed, by: float) -> None:
    for each in _each(one):
        each.left += by


def _level(one: _Placed, top: float) -> None:
    one.top = top
    for below in one.below:
        _level(below, top + one.height + _LEVEL)


def _each(one: _Placed) -> Iterator[_Placed]:
    yield one
    for below in one.below:
        yield from _each(below)

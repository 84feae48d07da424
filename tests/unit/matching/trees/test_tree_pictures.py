"""Pictures: whole, escaped, without overlaps, and refused where too large."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import pytest

from wherecast.matching.trees.tree_pictures import (
    SHAPES_MAX,
    PictureNode,
    check_size,
    dot_of,
    svg_of,
)
from wherecast.model import ConfigError

TREE = PictureNode(
    "c",
    ("root",),
    (
        PictureNode(
            "p", ("a very wide p-node over a narrow one",), (PictureNode("c", ("x < 1 & y",)),)
        ),
        PictureNode(
            "c",
            ('"quoted" \\ back',),
            (PictureNode("n", ("1",)), PictureNode("n", ("2", "two lines"))),
        ),
        PictureNode("c", ("last",)),
    ),
)


def test_dot_has_every_node_and_edge() -> None:
    text = dot_of(TREE)
    assert text.count("[label=") == 7
    assert text.count("->") == 6
    assert r"\"quoted\" \\ back" in text
    assert r"2\ntwo lines" in text


def test_svg_is_well_formed_and_nothing_overlaps() -> None:
    text = svg_of(TREE)
    root = ElementTree.fromstring(text)
    boxes = [
        tuple(float(one.attrib[name]) for name in ("x", "y", "width", "height"))
        for one in root.iter("{http://www.w3.org/2000/svg}rect")
    ]
    assert len(boxes) == 7
    for one, other in combinations(boxes, 2):
        apart = (
            one[0] + one[2] <= other[0] or other[0] + other[2] <= one[0]
            or one[1] + one[3] <= other[1] or other[1] + other[3] <= one[1]
        )  # fmt: skip
        assert apart, (one, other)
    width = float(root.attrib["width"])
    assert all(box[0] >= 0 and box[0] + box[2] <= width for box in boxes)
    assert "x &lt; 1 &amp; y" in text
    assert len(re.findall("<path", text)) == 6


def test_a_deep_tree_is_drawn() -> None:
    chain = PictureNode("n", ("last",))
    for number in range(SHAPES_MAX - 1):
        chain = PictureNode("n", (str(number),), (chain,))
    assert svg_of(chain).count("<rect") == dot_of(chain).count("[label=") == SHAPES_MAX


def test_a_large_tree_is_not_drawn() -> None:
    with pytest.raises(ConfigError, match="1,000 nodes is not drawn; at most 500"):
        check_size(1_000)
    check_size(500, 100)
    with pytest.raises(ConfigError, match="101 levels is not drawn; at most 100"):
        check_size(500, 101)

"""The ends of buckets in a picture, as people write them."""

import re

import pytest

from tests.unit.matching.trees.betree.trees import tree_of
from wherecast import Schema


def ends(declared: object, low: str, high: str) -> set[str]:
    """What the picture of a small tree says of its buckets."""
    filters = {f"l{n}": f"v = {low}" for n in range(4)} | {f"h{n}": f"v = {high}" for n in range(4)}
    dot = tree_of(filters, Schema.from_dict({"v": declared})).to_dot()
    return {end for pair in re.findall(r'"v (\S+) … (\S+?)\\n', dot) for end in pair}


@pytest.mark.parametrize(
    ("declared", "low", "high", "wanted"),
    [
        ("int", "10", "20", ["-∞", "15", "16", "∞"]),
        ("float", "1.5", "2.5", ["-∞", "2", "∞"]),
        ({"type": "decimal", "scale": 2}, "1.5", "2.5", ["-∞", "2", "2.01", "∞"]),
        ("bool", "FALSE", "TRUE", ["False", "True"]),
        ({"type": "string", "values": ["a", "b", "c"]}, "'a'", "'c'", ["a", "b", "c"]),
    ],
    ids=str,
)
def test_numbers(declared: object, low: str, high: str, wanted: list[str]) -> None:
    assert ends(declared, low, high) >= set(wanted)


def test_times() -> None:
    found = ends("timestamp", "TIMESTAMP '2026-01-01'", "TIMESTAMP '2026-01-03'")
    assert found >= {"-∞", "2026-01-02T00:00:00Z", "∞"}


def test_strings_by_their_hashes() -> None:
    found = ends("string", "'a'", "'b'")
    assert found >= {"#0000", "#ffff"}
    assert all(re.fullmatch("#[0-9a-f]{4}", end) for end in found)

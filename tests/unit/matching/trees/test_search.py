"""Searches make room for whatever they find."""

from typing import Any

import pytest

from wherecast import Index, Schema
from wherecast.matching.trees import key_batch, search
from wherecast.matching.trees.leaves import Leaves

SCHEMA = Schema.from_dict({"a": "int", "s": "string"})


@pytest.mark.parametrize("kind", ["betree", "forest"])
def test_little_room_gives_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_ROOM", 1)
    monkeypatch.setattr(key_batch, "_CHUNK_ROWS", 1)
    monkeypatch.setattr(key_batch, "_CHUNK_KEYS", 1)
    index = Index(SCHEMA, kind)
    index.add_all({n: f"a >= {n}" for n in range(100)})
    index.add_all({n: f"s LIKE '{'x' * (n - 100)}%' OR s LIKE '%y{n}'" for n in range(100, 140)})
    rows = [{"a": n, "s": "x" * (n % 45)} for n in range(300)]
    found = index.match(rows).to_pylist()
    for row, ids in zip(rows, found, strict=True):
        first = list(range(min(row["a"] + 1, 100)))
        assert ids == first + list(range(100, 100 + min(len(row["s"]) + 1, 40)))


@pytest.mark.parametrize("kind", ["betree", "forest"])
def test_leaves_are_decided_as_soon_as_there_are_many(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits for a decision does not grow with the batch."""
    monkeypatch.setattr(search, "_EXTRA_MAX", 64)
    index = Index(SCHEMA, kind)
    index.add_all({n: f"s LIKE '{'x' * n}%' OR s LIKE '%y{n}'" for n in range(30)})
    index.add(30, "a >= 100")
    sizes = []
    decide = Leaves.decide

    def counted(self: Leaves, slots: Any, columns: Any, rows: Any, numbers: Any) -> Any:
        sizes.append(len(numbers))
        return decide(self, slots, columns, rows, numbers)

    monkeypatch.setattr(Leaves, "decide", counted)
    rows = [{"a": n, "s": "x" * (n % 45)} for n in range(300)]
    found = index.match(rows).to_pylist()
    assert len(sizes) > 10
    assert max(sizes) <= 4 * 64
    for row, ids in zip(rows, found, strict=True):
        assert ids == list(range(min(len(row["s"]) + 1, 30))) + [30] * (row["a"] >= 100)


def test_no_publications() -> None:
    index = Index(SCHEMA, "betree")
    index.add(1, "a > 1")
    assert index.match([]).to_pylist() == []

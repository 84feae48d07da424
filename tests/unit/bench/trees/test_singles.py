"""Single changes of trees: what comes goes again, and every figure is there."""

from typing import Any

import pyarrow as pa
import pytest

from wherecast import Index, Schema
from wherecast.bench.trees import singles as trees_singles

SCHEMA = Schema.from_dict({"a": "int"})


def filters(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table({"id": list(numbers), "filter": [f"a > {n}" for n in numbers]})


@pytest.mark.parametrize("kind", ["betree", "forest"])
def test_changes_are_made_and_undone(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Index] = []
    sizes: list[int] = []

    class Watched(Index):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

        def match(self, publications: Any) -> Any:
            sizes.append(len(self))
            return super().match(publications)

    monkeypatch.setattr(trees_singles, "Index", Watched)
    batch = pa.RecordBatch.from_pydict({"a": list(range(300))})
    found = trees_singles.single_changes(kind, SCHEMA, filters(0, 50), filters(50, 250), batch)
    assert len(made) == 1
    assert sizes == [50, 150, 250, 150, 50]
    for name in ("add", "remove"):
        assert 0 < found[f"{name}s/CPU s"] <= found[f"best {name}s/CPU s"]
        assert found[f"{name}, CPU µs"] > 0
        assert found[f"match after {name}, CPU µs"] > 0

"""Files of trees: the same answers after loading, and files that are none refused."""

from pathlib import Path

import pytest

from wherecast import Index, Schema
from wherecast.matching.index_file import map_file, write_file
from wherecast.model import SnapshotError

SCHEMA = Schema.from_dict({"a": {"type": "float", "min": 0, "max": 10}, "s": "string"}, open=True)
FILTERS = {f"f{n}": f"a > {n / 10} AND s = 'x{n % 5}' AND other < {n}" for n in range(60)}
ROWS = [{"a": 5.0, "s": "x1", "other": 3.0}, {"a": 9.0, "s": "x2", "other": -1.0}, {}]


@pytest.mark.parametrize("kind", ["betree", "forest"])
def test_a_loaded_index_answers_the_same(kind: str, tmp_path: Path) -> None:
    index = Index(SCHEMA, kind)
    index.add_all(FILTERS)
    content = index.save(tmp_path / "one")
    loaded = Index.load(tmp_path / "one")
    assert (loaded.kind, loaded.schema, len(loaded)) == (kind, SCHEMA, 60)
    assert loaded.match(ROWS).to_pylist() == index.match(ROWS).to_pylist()
    assert loaded.save(tmp_path / "two") == content
    loaded.add("more", "a > 1")
    loaded.remove("f1")
    assert "more" in loaded.match(ROWS).to_pylist()[0]
    with pytest.raises(Exception, match="ids of this index are str"):
        loaded.add(5, "a > 1")


@pytest.mark.parametrize("kind", ["betree", "forest"])
def test_the_content_does_not_depend_on_the_order(kind: str, tmp_path: Path) -> None:
    contents = set()
    for filters in (FILTERS, dict(reversed(FILTERS.items()))):
        index = Index(SCHEMA, kind)
        index.add_all(filters)
        contents.add(index.save(tmp_path / "file"))
    assert len(contents) == 1


@pytest.mark.parametrize("kind", ["betree", "forest"])
def test_an_empty_index(kind: str, tmp_path: Path) -> None:
    Index(SCHEMA, kind).save(tmp_path / "none")
    loaded = Index.load(tmp_path / "none")
    loaded.add(1, "a > 1")
    assert loaded.match([{"a": 2.0}]).to_pylist() == [[1]]


def test_a_kind_of_a_later_version_is_refused(tmp_path: Path) -> None:
    Index(SCHEMA, "betree").save(tmp_path / "file")
    figures, arrays, _ = map_file(tmp_path / "file")
    del figures["arrays"]
    write_file(tmp_path / "file", {**figures, "kind": "wondertree"}, arrays)
    with pytest.raises(SnapshotError, match="kind wondertree, which this version cannot read"):
        Index.load(tmp_path / "file")

"""The pictures of the page on trees are what its example draws."""

from pathlib import Path

import pytest

from tests.unit.test_docs import ROOT, _run

PAGE = ROOT / "docs" / "explanation" / "trees.md"
IMAGES = PAGE.parent / "images"


def test_pictures_are_drawn_from_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _run(PAGE, tmp_path, {"__name__": "__main__"}, with_spark=False)
    drawn = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.svg")}
    kept = {path.name: path.read_text(encoding="utf-8") for path in IMAGES.glob("*.svg")}
    assert (
        drawn.keys()
        == kept.keys()
        == {"betree-1.svg", "betree-2.svg", "betree-3.svg", "forest.svg"}
    )
    for name, text in drawn.items():
        assert text == kept[name], f"{name} is not what the example draws"

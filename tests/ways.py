"""The ways in which a columnar index matches, each taken whatever the amount of work."""

import pytest

from wherecast.matching.columnar import snapshot
from wherecast.matching.columnar.search import flat_scan, tree_matching

WAYS = ("columns", "flat", "trees", "groups")


def take(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has every match done on whole columns, by trying all, or by trees in one of two orders."""
    monkeypatch.setattr(snapshot, "_PLAIN_MAX", -1 if way in ("trees", "groups") else 1 << 60)
    monkeypatch.setattr(flat_scan, "is_loaded", lambda: way != "columns")
    if way == "groups":
        by_group = tree_matching.TreeSearch(groups_max=-1, first_rows=1)
        monkeypatch.setattr(tree_matching, "TREE_SEARCH", by_group)

"""The ways in which a columnar index matches, each taken whatever the amount of work."""

import pytest

from wherecast.matching.columnar import snapshot, trees

WAYS = ("columns", "trees", "groups")


def take(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has every match done on whole columns, publication by publication, or group by group."""
    monkeypatch.setattr(snapshot, "_PLAIN_MAX", 1 << 60 if way == "columns" else -1)
    if way == "groups":
        monkeypatch.setattr(trees, "_MANY_GROUPS", -1)
        monkeypatch.setattr(trees, "_FIRST_ROWS", 1)

"""Both ways of matching: on whole columns and through trees, whatever the amount of work."""

import pytest

from wherecast.matching.columnar import snapshot


def take(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has every match done in one way, also those of no work at all."""
    monkeypatch.setattr(snapshot, "_PLAIN_MAX", -1 if way == "trees" else 1 << 60)


@pytest.fixture(params=["columns", "trees"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each of the two ways in turn."""
    way: str = request.param
    take(way, monkeypatch)
    return way


@pytest.fixture
def trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees only, where whole columns would take too long."""
    take("trees", monkeypatch)

"""The ways of matching: on whole columns and through trees, whatever the amount of work."""

import pytest

from tests.ways import WAYS, take


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way in turn."""
    way: str = request.param
    take(way, monkeypatch)
    return way


@pytest.fixture
def trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees only, where whole columns would take too long."""
    take("trees", monkeypatch)

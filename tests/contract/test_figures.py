"""Figures of a pipeline add up by part, and a new pipeline begins anew."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from wherecast.store.contracts import Figures
from wherecast.store.embedded.share_figures import EmbeddedFigures
from wherecast.store.memory.share_figures import MemoryFigures
from wherecast.store.records import ShareFigures

Open = Callable[[], Figures]


@pytest.fixture(params=["memory", "embedded"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """The same figures, as each process opens them."""
    if request.param == "embedded":
        return lambda: EmbeddedFigures(tmp_path / "figures")
    memory = MemoryFigures()
    return lambda: memory


def share(number: int, batches: int, filters: int = 0) -> ShareFigures:
    return ShareFigures(f"share-{number}", {"batches": batches}, {"filters": filters})


def test_there_are_none_at_first(opened: Open) -> None:
    assert opened().read() == []


def test_counts_add_up_and_levels_are_replaced(opened: Open) -> None:
    opened().add(1, share(1, 2, filters=9))
    opened().add(1, share(0, 1, filters=5))
    opened().add(1, share(1, 3, filters=7))
    opened().add(1, ShareFigures("share-1", {"matches": 4}))
    assert opened().read() == [
        ShareFigures("share-0", {"batches": 1}, {"filters": 5}),
        ShareFigures("share-1", {"batches": 5, "matches": 4}, {"filters": 7}),
    ]


def test_a_new_pipeline_begins_anew(opened: Open) -> None:
    opened().add(1, share(0, 2))
    opened().add(1, share(1, 2))
    opened().add(2, share(0, 1))
    opened().add(1, share(1, 5))  # one that was replaced
    assert opened().read() == [share(0, 1)]


def test_many_writers_lose_nothing(opened: Open) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: opened().add(1, share(0, 1)), range(200)))
    assert opened().read() == [share(0, 200)]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"epoch": 1}', b'{"epoch": "x"}'])
def test_a_damaged_file_is_nothing(tmp_path: Path, content: bytes) -> None:
    figures = EmbeddedFigures(tmp_path)
    figures.add(1, share(0, 2))
    (tmp_path / "share-0.json").write_bytes(content)
    assert figures.read() == []
    figures.add(1, share(0, 3))
    assert figures.read() == [share(0, 3)]

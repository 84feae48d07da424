"""Ids of another type, and ids that two threads remove at once."""

from contextlib import suppress
from threading import Barrier, BrokenBarrierError, Thread

import pytest

from wherecast import Index, Schema
from wherecast.matching.columnar.index import ColumnarIndex

SCHEMA = Schema.from_dict({"a": "int"})


@pytest.mark.parametrize("published", [False, True], ids=["waiting", "published"])
@pytest.mark.parametrize(("own", "other"), [("s1", 5), (5, "s1"), (5, None), ("s1", 2.5)])
def test_an_id_of_another_type_is_not_there(own: str | int, other: str, published: bool) -> None:
    index = Index(SCHEMA)
    index.add(own, "a = 1")
    if published:
        index.match([{"a": 1}])

    assert other not in index
    with pytest.raises(KeyError):
        index.remove(other)
    assert len(index) == 1


def test_one_of_two_threads_removes_a_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both find it there; one removes it, the other is told that it is gone."""
    index = Index(SCHEMA)
    index.add_all({1: "a = 1", 2: "a = 2"})
    both, plain, verdicts = Barrier(2, timeout=1), ColumnarIndex._has, []

    def seen(engine: ColumnarIndex, id: int) -> bool:
        there = plain(engine, id)
        with suppress(BrokenBarrierError):  # where one waits for the other, it looks later
            both.wait()
        return there

    def remove() -> None:
        try:
            index.remove(1)
            verdicts.append("removed")
        except KeyError:
            verdicts.append("not there")

    monkeypatch.setattr(ColumnarIndex, "_has", seen)
    threads = [Thread(target=remove) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(index) == 1
    assert sorted(verdicts) == ["not there", "removed"]

"""Damage to counters of publishers and marks of links is named, and nothing else is affected."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.contract.feed import GAP
from tests.contract.stores import Body, Place, embedded_place, publications
from tests.unit.store.embedded.filled import match_all
from wherecast.model import StoreError
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.check.repair_store import repair_store
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position
from wherecast.store.records import LinkMark


def damaged(path: Path, change: str) -> Place:
    """A log with two publishers and two links, in which something was changed."""
    EmbeddedStore(path).close()
    place = embedded_place(path)
    for name in ("p", "q"):
        mark = LinkMark(f"link-{name}", "other", "1", Position({0: 3}))
        place.log.append(publications([Body(1, None, None, name)]), 0, mark)
    place.close()
    connection = apsw.Connection(str(path / "log.db"))
    connection.execute(change)
    connection.close()
    return embedded_place(path)


@pytest.mark.parametrize("change", ["counter = 7", "crc = crc + 1"])
def test_a_counter(tmp_path: Path, change: str) -> None:
    place = damaged(tmp_path, f"UPDATE publishers SET {change} WHERE name = 'p'")
    text = "the counter of publisher p of stream default in log.db is damaged"
    with pytest.raises(StoreError, match=text):
        place.log.append(publications([Body(2, None, None, "p")]), 0)
    place.log.append(publications([Body(2, None, None, "q"), Body(3)]), 0)
    place.close()
    assert text in {one.problem for one in check_store(tmp_path)}


@pytest.mark.parametrize(
    ("change", "trims", "expected"),
    [
        ("counter = 7", False, 2),
        ("crc = crc + 1", False, 2),
        ("name = 'r'", False, 2),
        ("crc = crc + 1", True, 3),
    ],
)
def test_a_repair_gives_no_counter_out_again(
    tmp_path: Path, change: str, trims: bool, expected: int
) -> None:
    place = damaged(tmp_path, f"UPDATE publishers SET {change} WHERE name = 'p'")
    place.close()
    if trims:
        with closing(EmbeddedStore(tmp_path)) as store:
            match_all(store)
            store.mailboxes.trim(2 * GAP)
            store.log.trim(store.log.ends())
    assert repair_store(tmp_path, {"log.db"})
    assert not [one.problem for one in check_store(tmp_path) if one.problem]
    place = embedded_place(tmp_path)
    place.log.append(publications([Body(2, None, None, "p")]), 0)
    [entry] = place.log.read(0, 2, 3, headers=True)
    assert entry.headers is not None
    assert entry.headers.column("counter").to_pylist() == [expected]
    place.close()


@pytest.mark.parametrize(
    "change",
    ["log = 'x'", "incarnation = '2'", "position = '{}'", "crc = crc + 1", "link = 'link-r'"],
)
def test_a_mark(tmp_path: Path, change: str) -> None:
    place = damaged(tmp_path, f"UPDATE link_marks SET {change} WHERE link = 'link-q'")
    with pytest.raises(StoreError, match=r"the mark of link link-. in log.db is damaged"):
        place.log.link_marks()
    place.log.append(publications([Body(2)]), 0)
    place.close()
    assert sum("the mark of link" in str(one.problem) for one in check_store(tmp_path)) == 1

"""What was passed over is told once, and no snapshot keeps it."""

from pathlib import Path

import apsw
import pytest

from tests.contract.stores import SCHEMA, changes
from wherecast.pipeline.live.subscriptions import live_snapshots
from wherecast.pipeline.live.subscriptions.share_index import ShareIndex
from wherecast.pipeline.live.subscriptions.subscription_cache import SubscriptionCache
from wherecast.store.open_store import open_store
from wherecast.store.position import Position


def test_damage_is_told_once_and_no_snapshot_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(live_snapshots, "CHANGES_MIN", 2)
    store = open_store(tmp_path / "store")
    store.log.change(changes(("stream", "air", "", "", SCHEMA.to_json())), at=0)
    for number in range(8):
        store.log.change(changes(("subscribe", "air", "ana", f"s{number}", "no2 > 1")), at=0)
    connection = apsw.Connection(str(tmp_path / "store" / "log.db"))
    connection.execute("UPDATE changes SET batch = x'00' WHERE version = 3")
    connection.close()
    cache = SubscriptionCache(store.log, store.snapshots)
    for changes_known in (2, 5, 9):
        known = cache.at(Position(), changes_known)
    assert len(known) == 7
    assert [record.message for record in caplog.records] == [
        "change 3 is damaged: its checksum is wrong; what it made is not matched"
    ]
    assert store.snapshots is not None
    assert live_snapshots.newest(store.snapshots) == 2
    store.close()


def test_an_error_on_the_way_leaves_no_half_made_state(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store("memory:")
    store.log.change(changes(("stream", "air", "", "", SCHEMA.to_json())), at=0)
    store.log.change(changes(("subscribe", "air", "ana", "s1", "no2 > 1")), at=0)
    cache = SubscriptionCache(store.log, None)

    def full(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(ShareIndex, "add", full)
        with pytest.raises(MemoryError):
            cache.at(Position(), 2)
    known = cache.at(Position(), 2)
    assert [len(share) for share in known.shares] == [1]

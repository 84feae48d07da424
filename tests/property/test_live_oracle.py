"""What an inline broker delivers is what DuckDB finds on its log, whatever happens meanwhile."""

from pathlib import Path

import pytest

from tests.live_oracle import (
    Scale,
    check_same,
    expected,
    history,
    log_alone,
    play,
    scales,
    stored,
    taken,
)
from wherecast.broker.broker_core import BrokerCore
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.store.open_store import open_store


@pytest.mark.slow
@pytest.mark.parametrize("scale", scales(pytest.mark.soak("live-oracle")))
def test_inline_delivers_what_duckdb_finds(scale: Scale, tmp_path: Path) -> None:
    core = BrokerCore(open_store(tmp_path / "live"), None)
    try:
        core.check()
        play(core, scale)
        wanted = expected(core.store)
        assert len(wanted) > 5 * scale.publications  # not an empty claim
        check_same(taken(core, wanted), wanted)
    finally:
        core.close()
    again = open_store(log_alone(tmp_path / "live", tmp_path / "again"))
    try:
        pipeline = InlinePipeline(again, lambda: 0, publications_max=777)
        while (batch := pipeline.next_batch()) is not None:
            pipeline.commit(batch)
            again.mailboxes.merge()
        check_same(stored(again, history(again.log)[1]), wanted)
        assert again.batches.dead_letters() == []
    finally:
        again.close()

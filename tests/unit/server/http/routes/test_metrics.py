"""What `/metrics` tells of a damaged log."""

import asyncio
from pathlib import Path

import apsw
import pytest

pytest.importorskip("fastapi")

from prometheus_client import generate_latest

from wherecast.broker.broker import Broker
from wherecast.broker.broker_core import BrokerCore
from wherecast.server.http.app import api_of, context_of
from wherecast.server.http.pipeline_state import PipelineState
from wherecast.server.settings import Settings
from wherecast.store.open_store import open_store


async def told(path: Path) -> str:
    core = BrokerCore(open_store(path), None)
    context = context_of(core, Settings(), PipelineState("inline"))
    api_of(context, "test")
    try:
        return generate_latest(context.counters.registry).decode()
    finally:
        core.close()


def test_damaged_changes_are_counted(tmp_path: Path) -> None:
    with Broker(data=tmp_path / "data") as broker:
        broker.subscriber("ana").subscribe("no2 > 0")
    assert "\nwherecast_damaged_changes 0.0\n" in asyncio.run(told(tmp_path / "data"))
    connection = apsw.Connection(str(tmp_path / "data" / "log.db"))
    connection.execute("UPDATE changes SET batch = x'00' WHERE version = 2")
    connection.close()
    assert "\nwherecast_damaged_changes 1.0\n" in asyncio.run(told(tmp_path / "data"))

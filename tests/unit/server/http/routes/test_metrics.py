"""What `/metrics` tells of a damaged log, and of errors of rows."""

import asyncio
from pathlib import Path

import apsw
import pytest

pytest.importorskip("fastapi")

from prometheus_client import generate_latest

import wherecast as wc
from tests.spark.services import until
from wherecast.broker.broker import Broker
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.publisher import Publisher
from wherecast.server.http.app import api_of, context_of
from wherecast.server.http.pipeline_state import PipelineState
from wherecast.server.settings import Settings
from wherecast.store.open_store import open_store


async def told(path: Path) -> str:
    return metrics(BrokerCore(open_store(path), None))


def metrics(core: BrokerCore) -> str:
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


async def told_after_a_division_by_zero() -> str:
    schema = wc.Schema.from_dict({"n": "int"})
    core = BrokerCore(open_store("memory:"), schema)
    core.registrar.register("ana", 0)
    core.registrar.subscribe(wc.Subscription("s", "10 / n > 1", "ana"), 0)
    Publisher("p", core).publish({"n": 0})
    until("a batch", lambda: core.figures.get("batches"))
    return metrics(core)


def test_errors_of_rows_are_counted_by_reason() -> None:
    text = asyncio.run(told_after_a_division_by_zero())
    assert '\nwherecast_row_errors_total{reason="division_by_zero"} 1.0\n' in text
    assert '\nwherecast_row_errors_total{reason="overflow"} 0.0\n' in text

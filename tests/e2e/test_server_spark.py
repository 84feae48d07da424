"""A server whose pipeline runs on Spark: published, matched, pushed; killed and started again."""

import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")

from websockets.sync.client import connect

from tests.e2e.server import Server, serving
from tests.spark.services import session_members, until

pytestmark = [pytest.mark.spark, pytest.mark.classic, pytest.mark.release]


def publish(server: Server, number: int) -> None:
    path = "/v1/streams/default/publications"
    assert server.call("POST", path, {"attributes": {"n": number}})[0] == 202


def test_publications_are_matched_by_spark(tmp_path: Path) -> None:
    with serving(tmp_path, "--runner", "spark") as server:
        assert server.call("PUT", "/v1/subscribers/ana")[0] == 201
        path = "/v1/subscribers/ana/subscriptions/s1"
        assert server.call("PUT", path, {"filter": "n >= 10"})[0] == 201
        address = f"ws://127.0.0.1:{server.port}/v1/subscribers/ana/push"
        with connect(address) as socket:
            publish(server, 5)
            publish(server, 10)
            got = json.loads(socket.recv(60))
            assert got["publication"]["attributes"] == {"n": 10.0}
            socket.send(json.dumps({"through": got["cursor"]}))
            metrics: list[str] = []

            def is_told() -> bool:  # workers and the driver each add theirs to the store
                metrics[:] = server.call("GET", "/metrics")[1].decode().splitlines()
                spark = 'wherecast_stage_seconds_total{stage="spark"}'
                return "wherecast_matches_total 1.0" in metrics and any(
                    line.startswith(spark) for line in metrics
                )

            until("the figures of the batch", is_told)
            assert "wherecast_index_filters 1.0" in metrics
            found = {line.partition(" ")[0] for line in metrics}
            stages = ("subscriptions", "decode", "match", "group", "spark", "commit")
            named = {f'wherecast_stage_seconds_total{{stage="{stage}"}}' for stage in stages}
            assert named <= found
            pipeline = next(
                pid for pid, command in server.children().items() if "pipeline" in command
            )
            os.kill(pipeline, signal.SIGKILL)
            publish(server, 11)
            until("notice", lambda: server.call("GET", "/readyz")[1]["pipeline"]["restarts"] == 1)
            got = json.loads(socket.recv(120))
            assert got["publication"]["attributes"] == {"n": 11.0}
            # A task that stays may outlive its driver a moment, and be quicker than the next one.
            until("the next pipeline", lambda: server.call("GET", "/readyz")[1]["ready"] is True)
        assert server.stop() == 0


def test_a_server_gets_over_a_spark_that_hangs(tmp_path: Path) -> None:
    """Nothing answers any more: neither the worker, nor Java, which would have to kill it."""
    environ = {"WHERECAST__PIPELINE__STALL": "15s"}
    stopped: list[int] = []
    try:
        with serving(tmp_path, "--runner", "spark", environ=environ) as server:
            assert server.call("PUT", "/v1/subscribers/ana")[0] == 201
            path = "/v1/subscribers/ana/subscriptions/s1"
            assert server.call("PUT", path, {"filter": "n >= 10"})[0] == 201
            with connect(f"ws://127.0.0.1:{server.port}/v1/subscribers/ana/push") as socket:
                publish(server, 10)
                assert json.loads(socket.recv(60))["publication"]["attributes"] == {"n": 10.0}
                pipeline = next(
                    pid for pid, command in server.children().items() if "pipeline" in command
                )
                for pid in session_members(pipeline).keys() - {pipeline}:
                    os.kill(pid, signal.SIGSTOP)
                    stopped.append(pid)
                publish(server, 11)
                got = json.loads(socket.recv(300))
                assert got["publication"]["attributes"] == {"n": 11.0}
            assert server.call("GET", "/readyz")[1]["pipeline"]["restarts"] >= 1
            assert "Java ended" in server.told()
            assert server.stop() == 0
    finally:
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

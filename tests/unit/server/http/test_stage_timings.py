"""Stages are added up, whoever they are timed by."""

from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("fastapi")

from wherecast.server.http.stage_timings import Timings


def test_threads_add_to_one_stage() -> None:
    timings = Timings()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: timings.add("send", 0.25), range(1_000)))
    with timings.timed("append"):
        pass
    read = timings.read()
    assert read["send"] == 250.0
    assert read["append"] >= 0.0

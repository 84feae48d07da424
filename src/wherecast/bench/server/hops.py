"""The time of each hop of a server, from its own metrics."""

import re

from wherecast.bench.progress import Row
from wherecast.bench.server.process import MeasuredServer

HOPS = (
    "prepare", "append", "subscriptions", "decode", "match", "group", "spark", "notify", "send",
    "acknowledge", "commit", "merge",
)  # fmt: skip
_STAGE = re.compile(rb'^wherecast_stage_seconds_total\{stage="(\w+)"\} (\S+)$', re.MULTILINE)


def hop_seconds(server: MeasuredServer) -> dict[str, float]:
    """The seconds of each hop so far."""
    found = _STAGE.findall(server.call("GET", "/metrics")[1])
    return {stage.decode(): float(seconds) for stage, seconds in found}


def hop_columns(server: MeasuredServer, before: dict[str, float], publications: int) -> Row:
    """The time of each hop since `before`: microseconds of wall time per publication."""
    now = hop_seconds(server)
    return {
        f"{hop} µs": (now[hop] - before.get(hop, 0.0)) / publications * 1e6
        for hop in HOPS
        if hop in now
    }

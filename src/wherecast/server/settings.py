"""The settings of a server with their defaults; `settings_sources` reads other values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any, Literal

from wherecast.broker.core_limits import DEFAULT_CORE_LIMITS, CoreLimits, Retention
from wherecast.model import DEFAULT_LIMITS, Limits

Runner = Literal["spark", "inline"]
IndexKind = Literal["columnar", "betree", "forest", "scan"]  # as in `matching`, which is large


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the server listens, and what it works on.

    Attributes:
        host: an address of this machine's loopback.
        port: the port; 0 takes any free one.
        runner: who matches: Spark, or the server's own process.
        data: the directory of the store.
        schema: the file with the schema of the stream `default`; empty keeps the stored schema, or
            else an open one.
        log_format: the format of the lines on standard error.
        stop: how long requests may take to end when the server stops.
        restart_wait_max: the longest wait before a process that dies time and again is restarted.
        accept_loss: whether to go on without commits that the log of the store has lost.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    runner: Runner = "spark"
    data: str = "wherecast-data"
    schema: str = ""
    log_format: Literal["text", "json"] = "text"
    stop: timedelta = timedelta(seconds=5)
    restart_wait_max: timedelta = timedelta(seconds=30)
    accept_loss: bool = False


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What one request may be.

    Attributes:
        body_bytes_max: size of the body of a request.
        bodies_bytes_max: size of all bodies that are being read; further requests wait.
        body_wait: how long the body of a request may take to arrive.
        publications_max: publications in one request.
        notifications_max: notifications in the answer to one pull.
        wait_max: how long one pull may wait.
        strict_filters: whether a filter that can never match is refused.
    """

    body_bytes_max: int = 16 << 20
    bodies_bytes_max: int = 256 << 20
    body_wait: timedelta = timedelta(seconds=60)
    publications_max: int = 10_000
    notifications_max: int = 1_000
    wait_max: timedelta = timedelta(seconds=60)
    strict_filters: bool = False


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What push connections may take.

    Attributes:
        connections_max: connections that are open at once.
        stall: a connection that takes nothing for so long is closed.
        ping: how often an idle connection is asked whether it is still there.
        message_bytes_max: size of a message of a client.
    """

    connections_max: int = 10_000
    stall: timedelta = timedelta(seconds=10)
    ping: timedelta = timedelta(seconds=20)
    message_bytes_max: int = 64 << 10


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """The pipeline; all but the index is for the pipeline on Spark.

    Attributes:
        index: the kind of index; deliveries are the same with every kind.
        trigger: `slices`: a task stays and waits for publications; `batches`: Spark starts a job
            for each batch; `auto`: `slices` where Spark has a slot to spare.
        slice: how long a task stays.
        backlog: number of waiting publications that several tasks share.
        stall: how long publications may wait without any commit before the query is restarted.
    """

    index: IndexKind = "columnar"
    trigger: Literal["auto", "slices", "batches"] = "auto"
    slice: timedelta = timedelta(minutes=10)
    backlog: int = 20_000
    stall: timedelta = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """The pipeline on Spark.

    Attributes:
        master: the master URL of Spark.
        tasks: number of tasks that share a large batch.
        publications_max: publications in one batch.
    """

    master: str = "local[*,4]"
    tasks: int = 1
    publications_max: int = 20_000


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, each group as the record that its user takes; `KEYS` names them for users."""

    server: ServerSettings = field(default_factory=ServerSettings)
    limits: RequestLimits = field(default_factory=RequestLimits)
    publications: Limits = DEFAULT_LIMITS
    push: ConnectionLimits = field(default_factory=ConnectionLimits)
    core: CoreLimits = DEFAULT_CORE_LIMITS
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)
    spark: SparkSettings = field(default_factory=SparkSettings)


AttributePath = tuple[str, ...]
"""Attributes that lead from `Settings` to a value."""


def _each(kind: Any, *path: str) -> dict[str, AttributePath]:
    """The keys of a record of which every attribute is a setting."""
    return {one.name: (*path, one.name) for one in fields(kind)}


KEYS: Mapping[str, Mapping[str, AttributePath]] = {
    "server": _each(ServerSettings, "server"),
    "limits": {
        **_each(RequestLimits, "limits"),
        "publication_attributes_max": ("publications", "publication_attributes_max"),
        "array_elements_max": ("publications", "array_elements_max"),
        "json_depth_max": ("publications", "json_depth_max"),
        "payload_bytes_max": ("publications", "payload_bytes_max"),
        "subscriptions_max": ("core", "subscriptions_max"),
    },
    "push": {
        **_each(ConnectionLimits, "push"),
        "in_flight_max": ("core", "queues", "in_flight_max"),
    },
    "retention": _each(Retention, "core", "retention"),
    "pipeline": _each(PipelineSettings, "pipeline"),
    "spark": _each(SparkSettings, "spark"),
}
"""The settings as users name them: by section and key, each with its place in `Settings`."""

"""The settings of a server, with their defaults; `settings_sources` says where others come from."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

Runner = Literal["spark", "inline"]


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the server listens, and what it works on.

    Attributes:
        host: an address of this machine's loopback.
        port: 0 takes any that is free.
        runner: who matches: Spark, or the server's own process.
        data: the directory of the store.
        schema: the file of the schema of the stream `default`; empty is the one that is there, or
            an open one.
        log_format: of the lines on standard error.
        stop: how long requests may take to end when the server does.
        restart_wait_max: before a process that died again and again is started again.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    runner: Runner = "spark"
    data: str = "wherecast-data"
    schema: str = ""
    log_format: Literal["text", "json"] = "text"
    stop: timedelta = timedelta(seconds=5)
    restart_wait_max: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """What one request may be.

    Attributes:
        body_bytes_max: of a request.
        bodies_bytes_max: of all requests that are being read; others wait.
        body_wait: how long the body of a request may take to arrive.
        publications_max: in one request.
        publication_attributes_max: of one publication.
        json_depth_max: how deep objects may be nested.
        payload_bytes_max: of one publication.
        subscriptions_max: of one subscriber.
        notifications_max: of one pull.
        wait_max: of one pull.
        strict_filters: whether a filter that can never match is refused.
    """

    body_bytes_max: int = 16 << 20
    bodies_bytes_max: int = 256 << 20
    body_wait: timedelta = timedelta(seconds=60)
    publications_max: int = 10_000
    publication_attributes_max: int = 1_000
    json_depth_max: int = 32
    payload_bytes_max: int = 256 << 10
    subscriptions_max: int = 1_000_000
    notifications_max: int = 1_000
    wait_max: timedelta = timedelta(seconds=60)
    strict_filters: bool = False


@dataclass(frozen=True, slots=True)
class PushSettings:
    """What one connection may take.

    Attributes:
        connections_max: open at once.
        in_flight_max: notifications that were sent and not acknowledged.
        stall: a connection that takes nothing for so long is closed.
        ping: how often an idle connection is asked whether it is still there.
        message_bytes_max: of what a client sends.
    """

    connections_max: int = 10_000
    in_flight_max: int = 1_000
    stall: timedelta = timedelta(seconds=10)
    ping: timedelta = timedelta(seconds=20)
    message_bytes_max: int = 64 << 10


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """What queues may grow to.

    Attributes:
        queue_age: a notification that is older is lost to its subscriber.
        queue_bytes_max: of the publications in a queue, about; beyond it the oldest are lost.
        every: how often it is looked for what nobody needs.
    """

    queue_age: timedelta = timedelta(days=7)
    queue_bytes_max: int = 1 << 30
    every: timedelta = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """The pipeline on Spark.

    Attributes:
        master: as Spark writes it.
        tasks: that share a large batch.
        publications_max: in one batch.
    """

    master: str = "local[*,4]"
    tasks: int = 1
    publications_max: int = 20_000


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, by section."""

    server: ServerSettings = field(default_factory=ServerSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    push: PushSettings = field(default_factory=PushSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    spark: SparkSettings = field(default_factory=SparkSettings)

"""What the paths of a server share."""

import asyncio
from dataclasses import dataclass, field

from wherecast.broker.broker_core import BrokerCore
from wherecast.server.http.batching.ack_batcher import AckBatcher
from wherecast.server.http.batching.publish_batcher import Joint
from wherecast.server.http.counters import Counters
from wherecast.server.http.pipeline_state import PipelineState
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.append_signal import Appended
from wherecast.server.http.transport.body import Bodies
from wherecast.server.http.transport.connections import Connections
from wherecast.server.http.transport.threads import Threads
from wherecast.server.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What the paths of a server share.

    Attributes:
        core: what they work on.
        settings: of the server.
        threads: where they wait for the disk.
        bodies: reads requests.
        joint: publishes what they have.
        acks: stores what subscribers acknowledge.
        timings: what stages took.
        counters: what was done so far.
        pipeline: what is known of the process that matches.
        stopping: set when the server is about to end: who waits is let go.
        connections: the open push connections.
        appended: tells that something was published.
    """

    core: BrokerCore
    settings: Settings
    threads: Threads
    bodies: Bodies
    joint: Joint
    acks: AckBatcher
    timings: Timings
    counters: Counters
    pipeline: PipelineState
    stopping: asyncio.Event
    connections: Connections = field(default_factory=Connections)
    appended: Appended = field(default_factory=Appended)

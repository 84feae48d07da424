"""What the paths of a server share."""

import asyncio
from dataclasses import dataclass, field

from wherecast.gateway.http.appended import Appended
from wherecast.gateway.http.body import Bodies
from wherecast.gateway.http.connections import Connections
from wherecast.gateway.http.counters import Counters
from wherecast.gateway.http.desk import Desk
from wherecast.gateway.http.joint import Joint
from wherecast.gateway.http.joint_acks import JointAcks
from wherecast.gateway.http.pipeline_state import PipelineState
from wherecast.gateway.http.threads import Threads
from wherecast.gateway.http.timings import Timings
from wherecast.gateway.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What the paths of a server share.

    Attributes:
        desk: what they work on.
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

    desk: Desk
    settings: Settings
    threads: Threads
    bodies: Bodies
    joint: Joint
    acks: JointAcks
    timings: Timings
    counters: Counters
    pipeline: PipelineState
    stopping: asyncio.Event
    connections: Connections = field(default_factory=Connections)
    appended: Appended = field(default_factory=Appended)

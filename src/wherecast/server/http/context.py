"""What the routes of a server share."""

import asyncio
from dataclasses import dataclass, field

from wherecast.broker.broker_core import BrokerCore
from wherecast.server.http.counters import Counters
from wherecast.server.http.door.acknowledging import Acknowledging
from wherecast.server.http.door.loop_door import LoopDoor
from wherecast.server.http.door.publishing import Publishing
from wherecast.server.http.notification_writer import NotificationWriter
from wherecast.server.http.pipeline_state import PipelineState
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.append_signal import AppendSignal
from wherecast.server.http.transport.body import Bodies
from wherecast.server.http.transport.push_connections import Connections
from wherecast.server.http.transport.thread_pools import ThreadPools
from wherecast.server.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What the routes of a server share.

    Attributes:
        core: the broker that the server serves.
        settings: of the server.
        pools: the threads that wait for the disk.
        bodies: reads the bodies of requests.
        door: the door of the core, for the event loop.
        publishing: appends the publications of requests.
        acknowledging: takes acknowledgements.
        writer: writes notifications as JSON.
        timings: seconds by stage.
        counters: counters for Prometheus.
        pipeline: the state of the process that matches.
        stopping: set when the server is about to end; it releases whoever waits.
        connections: the open push connections.
        append_signal: sent when something was published.
    """

    core: BrokerCore
    settings: Settings
    pools: ThreadPools
    bodies: Bodies
    door: LoopDoor
    publishing: Publishing
    acknowledging: Acknowledging
    writer: NotificationWriter
    timings: Timings
    counters: Counters
    pipeline: PipelineState
    stopping: asyncio.Event
    connections: Connections = field(default_factory=Connections)
    append_signal: AppendSignal = field(default_factory=AppendSignal)

"""The gateway as a process: `python -m wherecast.server.gateway_process`, started by a supervisor.

The first line of its standard input has the settings and the descriptor of the socket; each
further one tells how the pipeline is. It says `example` and a filter with a publication that match,
as JSON, on standard output, and `ready` once it serves. It ends on
SIGTERM, and when its standard input does. The exit code is 2 where its settings cannot work.
"""

import asyncio
import gc
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import pyarrow as pa
import uvicorn

from wherecast import __version__
from wherecast.broker.broker_core import BrokerCore, environment_with
from wherecast.broker.registrar.registrar import DEFAULT_STREAM
from wherecast.model import Schema, WherecastError
from wherecast.server.http.app import app_of, context_of
from wherecast.server.http.context import Context
from wherecast.server.http.pipeline_state import PipelineState
from wherecast.server.http.transport.http_protocol import HttpProtocol
from wherecast.server.http.transport.websocket_protocol import WebSocketProtocol
from wherecast.server.log_lines import configure_logs
from wherecast.server.schema_example import example_of
from wherecast.server.settings import Settings
from wherecast.server.settings_sources import settings_from_json
from wherecast.store.open_store import StoreOptions, open_store

_SWITCH_S = 0.002  # the event loop does not wait long for a thread that matches
_IDLE_S = 75  # a publisher that pauses keeps its connection
_ENDS_WITHIN_S = 12.0  # after its supervisor is gone


class _Server(uvicorn.Server):
    """Leaves signals to this process, and says when it serves."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print("ready", flush=True)


def main() -> int:
    """Serves until it is told to stop; the exit code."""
    _allow_connections()
    sys.setswitchinterval(_SWITCH_S)
    given = json.loads(sys.stdin.readline())
    settings = settings_from_json(given["settings"])
    configure_logs(settings.server.log_format)
    pa.array([None])  # imports pandas where it is installed: no publication shall wait for that
    try:
        core = _core(settings)
    except WherecastError as error:
        print(f"wherecast: {error}", file=sys.stderr, flush=True)
        return 2
    print(f"example {json.dumps(example_of(core.registrar.schema(DEFAULT_STREAM)))}", flush=True)
    try:
        with (
            socket.socket(fileno=given["socket"]) as listening,
            asyncio.Runner(loop_factory=_loop_factory()) as runner,
        ):
            runner.run(_serve(core, settings, listening))
    finally:
        core.close()
    return 0


def _allow_connections() -> None:
    """Has the system allow as many connections as it can."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _core(settings: Settings) -> BrokerCore:
    server = settings.server
    schema = Schema.load(server.schema) if server.schema else None
    directory = Path(server.data)  # as the supervisor takes it: never a URI
    options = StoreOptions(accepts_loss=server.accept_loss)
    store = open_store(directory, options=options)
    try:
        is_inline = server.runner == "inline"
        environment = environment_with(settings.pipeline.index)
        core = BrokerCore(store, schema, directory, is_inline, settings.core, environment)
        core.check()
    except BaseException:
        store.close()
        raise
    return core


async def _serve(core: BrokerCore, settings: Settings, listening: socket.socket) -> None:
    inline = settings.server.runner == "inline"
    state = PipelineState("inline" if inline else "starting")
    context = context_of(core, settings, state)
    server = _Server(_config(context, settings))
    loop = asyncio.get_running_loop()

    def stop() -> None:
        context.stopping.set()
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    watching = Thread(target=_listen, args=(state, inline, loop, stop), daemon=True)
    watching.start()
    gc.collect()
    gc.freeze()  # what is there by now stays: no publication waits while all of it is looked at
    await server.serve([listening])
    await context.door.finish()
    context.pools.close()


def _config(context: Context, settings: Settings) -> uvicorn.Config:
    push = settings.push
    return uvicorn.Config(
        app_of(context, __version__),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=int(settings.server.stop.total_seconds()) or 1,
        http=HttpProtocol,
        ws=WebSocketProtocol,
        proxy_headers=False,
        ws_max_size=push.message_bytes_max,
        ws_ping_interval=push.ping.total_seconds(),
        ws_ping_timeout=push.ping.total_seconds(),
        ws_per_message_deflate=False,
    )


def _listen(
    state: PipelineState, inline: bool, loop: asyncio.AbstractEventLoop, stop: Callable[[], None]
) -> None:
    """Hears what the supervisor says, and its end."""
    for line in sys.stdin:
        message = json.loads(line)
        if not inline:
            state.phase, state.restarts = message["phase"], message["restarts"]
            state.problem = message["problem"]
    last = Timer(_ENDS_WITHIN_S, os._exit, (1,))
    last.daemon = True
    last.start()
    loop.call_soon_threadsafe(stop)


def _loop_factory() -> Callable[[], Any] | None:
    try:
        import uvloop
    except ImportError:  # where it is not to be had
        return None
    factory: Callable[[], Any] = uvloop.new_event_loop
    return factory


if __name__ == "__main__":
    sys.exit(main())

"""Starts the processes of a server, watches them, starts again what died, and stops them.

Concurrency: one event loop.
"""

import asyncio
import json
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from wherecast.server.settings import Settings
from wherecast.server.settings_sources import settings_to_json
from wherecast.server.supervisor.backoff import Backoff
from wherecast.server.supervisor.child import Child, Command, cause_of
from wherecast.server.supervisor.listening import address_of
from wherecast.server.supervisor.scratch import Scratch

SUCCESS, FAILURE, USAGE = 0, 1, 2
_FIRST_RESTARTS_MAX = 3  # of one that was never ready
_KINDLY_S = 10.0  # for all to end by themselves
GATEWAY = "wherecast.server.gateway_process"
PIPELINE = "wherecast.pipeline.live.pipeline_process"

Report = Callable[[str, dict[str, Any]], None]
"""Reports an event to whoever runs the server: the name of the event, and its fields."""


class Supervisor:
    """Runs a server until a signal stops it.

    Args:
        settings: of the server.
        listening: the socket of the server.
        report: called with each event.
    """

    def __init__(self, settings: Settings, listening: socket.socket, report: Report) -> None:
        self._settings = settings
        self._listening = listening
        self._report = report
        self._children: dict[str, Child] = {}
        self._is_ready: dict[str, asyncio.Event] = {}
        self._state: dict[str, Any] = {
            "phase": "starting",
            "restarts": 0,
            "problem": "",
        }
        self._example: list[str] | None = None
        self._scratch = Scratch(settings.server.data)
        self._stop = asyncio.Event()
        self._code = SUCCESS

    async def run(self) -> int:
        """Runs until SIGTERM or SIGINT, or until a process cannot start; the exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        serving = asyncio.ensure_future(self._serve())
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (serving, stopping):
                task.cancel()
            failures = await asyncio.gather(serving, return_exceptions=True)
            await self._end_all()
        for failure in failures:
            if isinstance(failure, Exception):
                raise failure
        return self._code

    def _say(self, word: str, what: dict[str, Any]) -> None:
        """Reports an event; that nobody reads the reports any more ends no server."""
        with suppress(OSError):
            self._report(word, what)

    async def _serve(self) -> None:
        """Starts the processes one after the other, and keeps them running."""
        self._say("opening", {"data": self._settings.server.data})
        async with asyncio.TaskGroup() as tending:
            tending.create_task(self._tend(self._gateway()))
            await self._ready("gateway").wait()
            if self._settings.server.runner == "spark":
                self._say("starting", {"master": self._settings.spark.master})
                tending.create_task(self._tend(self._pipeline()))
                await self._ready("pipeline").wait()
            address = address_of(self._listening)
            self._say("serving", {"address": address, "example": self._example})

    async def _tend(self, command: Command) -> None:
        """Keeps one process running."""
        backoff = Backoff(self._settings.server.restart_wait_max.total_seconds())
        starts = 0
        while True:
            if command.name == "pipeline":
                command = replace(command, environ=self._scratch.renew())
            child = await Child.start(
                command, self._on_output(command.name), self._on_error(command.name)
            )
            self._children[command.name] = child
            if command.name == "gateway":
                child.tell(self._state)
            else:
                self._tell_state(phase="starting" if not starts else "restarting", restarts=starts)
            code = await child.ended()
            child.kill()  # what it had started
            never_could = not self._ready(command.name).is_set()
            if never_could and (code == USAGE or starts == _FIRST_RESTARTS_MAX):
                if code < 0 or not child.last_line:  # else the line says why
                    why = cause_of(code, child.last_line)
                    self._say("failed", {"name": command.name, "why": why})
                self._give_up(USAGE if code == USAGE else FAILURE)
                return
            starts += 1
            wait_s = backoff.after(child.lived_s)
            why = cause_of(code, child.last_line)
            if command.name != "gateway":
                self._tell_state(phase="restarting", restarts=starts, problem=why)
            self._say("died", {"name": command.name, "why": why, "wait_s": wait_s})
            await asyncio.sleep(wait_s)

    def _on_output(self, name: str) -> Callable[[str], None]:
        return lambda line: self._heard(name, line)

    def _on_error(self, name: str) -> Callable[[str], None]:
        return lambda line: self._say("told", {"name": name, "line": line})

    def _heard(self, name: str, line: str) -> None:
        if line == "ready":
            self._ready(name).set()
            if name == "pipeline":
                self._tell_state(phase="running", problem="")
        elif line.startswith("example "):
            self._example = json.loads(line.partition(" ")[2])

    def _tell_state(self, **state: Any) -> None:
        """Tells the gateway the state of the pipeline."""
        self._state |= state
        gateway = self._children.get("gateway")
        if gateway is not None:
            gateway.tell(self._state)

    def _ready(self, name: str) -> asyncio.Event:
        return self._is_ready.setdefault(name, asyncio.Event())

    def _give_up(self, code: int) -> None:
        self._code = code
        self._stop.set()

    async def _end_all(self) -> None:
        """Ends all processes: asks them first, and kills those that are left."""
        if self._code == SUCCESS:  # else whoever runs the server knows already why it ends
            self._say("stopping", {})
        children = list(self._children.values())
        for child in children:
            child.ask_to_end()
        ends = [asyncio.ensure_future(child.ended()) for child in children]
        if ends:
            await asyncio.wait(ends, timeout=_KINDLY_S)
        for child in children:
            child.kill()
        await asyncio.gather(*ends)
        self._scratch.remove()
        self._listening.close()

    def _gateway(self) -> Command:
        descriptor = self._listening.fileno()
        first = {"settings": settings_to_json(self._settings), "socket": descriptor}
        return Command("gateway", ("-m", GATEWAY), first, (descriptor,))

    def _pipeline(self) -> Command:
        spark, pipeline = self._settings.spark, self._settings.pipeline
        given = {
            "--master": spark.master,
            "--tasks": spark.tasks,
            "--publications-max": spark.publications_max,
            "--index": pipeline.index,
            "--trigger": pipeline.trigger,
            "--slice-s": pipeline.slice.total_seconds(),
            "--backlog": pipeline.backlog,
            "--stall-s": pipeline.stall.total_seconds(),
        }
        options = [str(part) for pair in given.items() for part in pair]
        data = os.path.abspath(self._settings.server.data)
        return Command("pipeline", ("-m", PIPELINE, data, *options))

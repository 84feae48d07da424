"""`wherecast serve`: runs the server until SIGTERM or SIGINT."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import time
from typing import Any

import orjson

from wherecast.model import ConfigError, Schema
from wherecast.server.log_lines import moment_text
from wherecast.server.settings import Settings
from wherecast.server.settings_sources import load_settings
from wherecast.server.supervisor.listening import listen
from wherecast.server.supervisor.spark_master import check_master
from wherecast.server.supervisor.supervisor import Supervisor

_NEEDED = ("fastapi", "uvicorn", "websockets", "prometheus_client")
_LEVELS = {"died": "error", "failed": "error", "told": "warning"}


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of the command line.

    Attributes:
        config: the file of settings.
        given: settings of the section `server`; None for an option that is not given.
    """

    config: Path | None
    given: Mapping[str, Any]


def run_serve(options: ServeOptions) -> int:
    """Serves until SIGTERM or SIGINT; returns the exit code.

    Raises:
        ConfigError: a setting is invalid, a package is missing, or the port is in use.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigError(f"{missing[0]} is missing: pip install 'wherecast[server]'")
    given = {key: value for key, value in options.given.items() if value is not None}
    settings = load_settings(options.config, os.environ, {"server": given})
    check_master(settings)
    if settings.server.schema:
        Schema.load(settings.server.schema)  # refuses a bad schema before any process starts
    listening = listen(settings.server.host, settings.server.port)
    return asyncio.run(_run(settings, listening, Speaker(settings)))


async def _run(settings: Settings, listening: Any, speaker: "Speaker") -> int:
    return await Supervisor(settings, listening, speaker.report).run()


class Speaker:
    """Prints the events of the server, as text or as JSON."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._is_json = settings.server.log_format == "json"

    def report(self, what: str, known: dict[str, Any]) -> None:
        """Prints an event."""
        if what == "told" and not self._is_plain(known):
            print(known["line"], file=sys.stderr, flush=True)
        elif self._is_json:
            at, level = moment_text(time()), _LEVELS.get(what, "info")
            event = orjson.dumps({"at": at, "level": level, "event": what, **known})
            print(event.decode(), file=sys.stderr, flush=True)
        else:
            for line in self._lines(what, known):
                print(line, flush=True)

    def _is_plain(self, known: dict[str, Any]) -> bool:
        return self._is_json and not known["line"].startswith("{")

    def _lines(self, what: str, known: dict[str, Any]) -> list[str]:
        if what == "opening":
            return [f"Opening {known['data']} …"]
        if what == "starting":
            return [f"Starting Spark ({known['master']}), which takes some seconds …"]
        if what == "died":
            why, wait_s = known["why"], known["wait_s"]
            return [f"The {known['name']} ended: {why}. It is started again in {wait_s:g} s."]
        if what == "failed":
            return [f"The {known['name']} could not start: {known['why']}."]
        if what == "stopping":
            return ["Stopping …"]
        return self._greeting(known["address"], known["example"])

    def _greeting(self, address: str, example: Sequence[str] | None) -> list[str]:
        runner = "Spark" if self._settings.server.runner == "spark" else "this process"
        where = "" if address == "http://127.0.0.1:8080" else f" --url {address}"
        lines = [
            f"Serving {address} (docs: {address}/docs), matched by {runner}; stop with Ctrl-C."
        ]
        if example is not None:
            filter, publication = example
            lines += [
                f"Subscribe:  wherecast subscribe ana {filter}{where}",
                f"Publish:    wherecast publish {publication}{where}",
            ]
        return lines

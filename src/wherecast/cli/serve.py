"""`wherecast serve`: the server, until it is told to stop."""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from wherecast.model import ConfigError, Schema
from wherecast.server.settings import Settings
from wherecast.server.settings_sources import load_settings
from wherecast.server.supervisor.listening import listen
from wherecast.server.supervisor.supervisor import Supervisor

_NEEDED = ("fastapi", "uvicorn", "websockets", "prometheus_client")
_ROOM = 0.75  # where in its domain a value is that the example publishes


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What the command line says; None is not said.

    Attributes:
        config: the file of settings.
        given: settings of the section `server`.
    """

    config: Path | None
    given: Mapping[str, Any]


def run_serve(options: ServeOptions) -> int:
    """Serves until SIGTERM or SIGINT; the exit code.

    Raises:
        ConfigError: a setting cannot work, a package is missing, or the port is in use.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigError(f"{missing[0]} is missing: pip install 'wherecast[server]'")
    given = {key: value for key, value in options.given.items() if value is not None}
    settings = load_settings(options.config, os.environ, {"server": given})
    schema = Schema.load(settings.server.schema) if settings.server.schema else None
    listening = listen(settings.server.host, settings.server.port)
    speaker = Speaker(settings, schema)
    return asyncio.run(_run(settings, listening, speaker))


async def _run(settings: Settings, listening: Any, speaker: "Speaker") -> int:
    return await Supervisor(settings, listening, speaker.report).run()


class Speaker:
    """Tells the one who runs the server what happens."""

    def __init__(self, settings: Settings, schema: Schema | None) -> None:
        self._settings = settings
        self._schema = schema
        self._is_json = settings.server.log_format == "json"

    def report(self, what: str, known: dict[str, Any]) -> None:
        """Tells of an event."""
        if what == "told" and not self._is_plain(known):
            print(known["line"], file=sys.stderr, flush=True)
        elif self._is_json:
            print(orjson.dumps({"event": what, **known}).decode(), file=sys.stderr, flush=True)
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
        return self._greeting(known["address"])

    def _greeting(self, address: str) -> list[str]:
        runner = "Spark" if self._settings.server.runner == "spark" else "this process"
        where = "" if address == "http://127.0.0.1:8080" else f" --url {address}"
        filter, publication = example_of(self._schema)
        return [
            f"Serving {address} (docs: {address}/docs), matched by {runner}; stop with Ctrl-C.",
            f'Subscribe:  wherecast subscribe ana "{filter}"{where}',
            f"Publish:    wherecast publish {publication}{where}",
        ]


def example_of(schema: Schema | None) -> tuple[str, str]:
    """A filter, and a publication that matches it, for a schema."""
    for attribute in schema or ():
        name = attribute.name
        if attribute.type in ("int", "float") and not attribute.scale:
            low = 0.0 if attribute.min is None else float(attribute.min)
            high = low + 100 if attribute.max is None else float(attribute.max)
            least, value = (int(low + (high - low) * share) for share in (0.5, _ROOM))
            return f"{name} >= {least}", f"{name}={max(least, value)}"
        if attribute.type == "string":
            text = attribute.values[0] if attribute.values else "Zagreb"
            return f"{name} = '{text}'", f"{name}={text}"
    return "temperature >= 30", "temperature=31"

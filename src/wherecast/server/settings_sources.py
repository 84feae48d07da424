"""Where settings come from: `wherecast.toml`, the environment, the command line.

Each later one wins. A setting is named by its section and its key: `port` of `[server]` in the
file, `WHERECAST__SERVER__PORT` in the environment.
"""

import ipaddress
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from wherecast.model import ConfigError, format_duration, parse_duration
from wherecast.model.names import did_you_mean
from wherecast.model.values import describe
from wherecast.server.settings import Settings

PREFIX = "WHERECAST__"
FILE = "wherecast.toml"
_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

Given = Mapping[str, Mapping[str, Any]]
"""Values by section and key."""


def load_settings(file: Path | None, environ: Mapping[str, str], given: Given) -> Settings:
    """The settings of a file, the environment and the command line, checked.

    Args:
        file: a TOML file; None is `wherecast.toml` where there is one.
        environ: the environment.
        given: what the command line says.

    Raises:
        ConfigError: a setting is unknown, or its value cannot be.
    """
    merged: dict[str, dict[str, Any]] = {}
    for place, source in (
        *_from_file(file),
        *_from_environment(environ),
        ("the command line", given),
    ):
        _settings(source, place)  # so that an error names the place
        for section, values in source.items():
            merged.setdefault(section, {}).update(values)
    settings = _settings(merged, "the settings")
    check_host(settings.server.host)
    return settings


def settings_to_json(settings: Settings) -> str:
    """What `settings_from_json` reads back."""
    return json.dumps(asdict(settings), default=format_duration)


def settings_from_json(text: str) -> Settings:
    """The settings that `settings_to_json` wrote."""
    return _settings(json.loads(text), "the settings")


def check_host(host: str) -> None:
    """Refuses an address that others could reach.

    Raises:
        ConfigError: it is none of the loopback.
    """
    try:
        is_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise ConfigError(
            f"host {host} is not of the loopback: without authentication, which is not there yet,"
            " the server binds to 127.0.0.1, ::1 or localhost only"
        )


def _from_file(file: Path | None) -> list[tuple[str, Given]]:
    path = Path(FILE) if file is None else file
    try:
        return [(str(path), tomllib.loads(path.read_text(encoding="utf-8")))]
    except FileNotFoundError:
        if file is None:
            return []
        raise ConfigError(f"{path}: no such file") from None
    except OSError as error:
        raise ConfigError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: malformed TOML: {error}") from None


def _from_environment(environ: Mapping[str, str]) -> list[tuple[str, Given]]:
    found: dict[str, dict[str, Any]] = {}
    for name, value in sorted(environ.items()):
        if name.startswith(PREFIX):
            section, _, key = name[len(PREFIX) :].lower().partition("__")
            found.setdefault(section, {})[key] = value
    return [("the environment", found)]


def _settings(source: Any, place: str) -> Settings:
    """The settings of one source, or of all together."""
    sections = tuple(one.name for one in fields(Settings))
    made = {}
    for section, values in source.items():
        if section not in sections:
            raise _unknown("section", section, sections, place)
        if not isinstance(values, Mapping):
            raise ConfigError(f"{place}: {section} is a section, not {describe(values)}")
        made[section] = _section(get_type_hints(Settings)[section], section, values, place)
    return Settings(**made)


def _section(kind: type, section: str, values: Mapping[str, Any], place: str) -> Any:
    types = get_type_hints(kind)
    read = {}
    for key, value in values.items():
        if key not in types:
            raise _unknown("key", f"{section}.{key}", tuple(f"{section}.{k}" for k in types), place)
        read[key] = _value(types[key], value, f"{place}: {section}.{key}")
    return kind(**read)


def _value(kind: Any, value: Any, what: str) -> Any:
    """A value of a type, from TOML or from text."""
    if kind is timedelta:
        try:
            return parse_duration(value)
        except ConfigError as error:
            raise ConfigError(f"{what}: {error}") from None
    if kind is bool:
        truth = _TRUTHS.get(str(value).lower())
        if truth is None:
            raise ConfigError(f"{what} is true or false, not {describe(value)}")
        return truth
    if kind is int:
        return _number(value, what)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ConfigError(f"{what} is {' or '.join(get_args(kind))}, not {describe(value)}")
        return value
    if not isinstance(value, str) or "\0" in value:
        raise ConfigError(f"{what} is a string, not {describe(value)}")
    return value


def _number(value: Any, what: str) -> int:
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    least, most = (0, 65_535) if what.endswith(".port") else (1, 2**40)
    if type(number) is not int or not least <= number <= most:
        raise ConfigError(f"{what} is a whole number from {least} to {most}, not {describe(value)}")
    return number


def _unknown(noun: str, name: str, known: tuple[str, ...], place: str) -> ConfigError:
    hint = did_you_mean(name, known) or f"there are {', '.join(known)}"
    return ConfigError(f"{place}: unknown {noun} {name}; {hint}")

"""Where settings come from: `wherecast.toml`, the environment, the command line.

Each later one wins. A setting is named by its section and its key: `port` of `[server]` in the
file, `WHERECAST__SERVER__PORT` in the environment.
"""

import ipaddress
import json
import tomllib
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from wherecast.model import ConfigError, format_duration, parse_duration
from wherecast.model.errors import reason_of
from wherecast.model.names import did_you_mean
from wherecast.model.values import describe
from wherecast.server.settings import KEYS, Settings

PREFIX = "WHERECAST__"
FILE = "wherecast.toml"
_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

Given = Mapping[str, Mapping[str, Any]]
"""Values by section and key."""

Values = dict[tuple[str, ...], Any]
"""Values by their places in the settings."""


def load_settings(file: Path | None, environ: Mapping[str, str], given: Given) -> Settings:
    """The settings of a file, the environment and the command line, checked.

    Args:
        file: a TOML file; None is `wherecast.toml` where there is one.
        environ: the environment.
        given: what the command line says.

    Raises:
        ConfigError: settings are unknown, or have values that cannot be; a line for each.
    """
    problems: list[str] = []
    values: Values = {}
    try:
        values |= _read(_from_file(file), str(file or FILE), problems)
    except ConfigError as error:
        problems.append(str(error))
    values |= _read(_from_environment(environ), "the environment", problems)
    values |= _read(given, "the command line", problems)
    settings: Settings = _made(Settings, values)
    try:
        check_host(settings.server.host)
    except ConfigError as error:
        problems.append(str(error))
    if problems:
        raise ConfigError("\n".join(problems))
    return settings


def settings_to_json(settings: Settings) -> str:
    """What `settings_from_json` reads back."""
    written = {
        section: {key: reduce(getattr, path, settings) for key, path in keys.items()}
        for section, keys in KEYS.items()
    }
    return json.dumps(written, default=format_duration)


def settings_from_json(text: str) -> Settings:
    """The settings that `settings_to_json` wrote."""
    problems: list[str] = []
    values = _read(json.loads(text), "the settings", problems)
    assert not problems
    settings: Settings = _made(Settings, values)
    return settings


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


def _from_file(file: Path | None) -> Given:
    path = Path(FILE) if file is None else file
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if file is None:
            return {}
        raise ConfigError(f"{path}: no such file") from None
    except OSError as error:
        raise ConfigError(f"{path}: {reason_of(error).lower()}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: malformed TOML: {error}") from None


def _from_environment(environ: Mapping[str, str]) -> Given:
    found: dict[str, dict[str, Any]] = {}
    for name, value in sorted(environ.items()):
        if name.startswith(PREFIX):
            section, _, key = name[len(PREFIX) :].lower().partition("__")
            found.setdefault(section, {})[key] = value
    return found


def _read(source: Given, place: str, problems: list[str]) -> Values:
    """The good values of one source; what is wrong with the others is added to the problems."""
    found: Values = {}
    for section, values in source.items():
        if section not in KEYS:
            problems.append(_unknown("section", section, tuple(KEYS), place))
        elif not isinstance(values, Mapping):
            problems.append(f"{place}: {section} is a section, not {describe(values)}")
        else:
            for key, value in values.items():
                path = KEYS[section].get(key)
                if path is None:
                    known = tuple(f"{section}.{one}" for one in KEYS[section])
                    problems.append(_unknown("key", f"{section}.{key}", known, place))
                    continue
                try:
                    found[path] = _value(_type_of(path), value, f"{place}: {section}.{key}")
                except ConfigError as error:
                    problems.append(str(error))
    return found


def _type_of(path: Sequence[str]) -> Any:
    """The type of the value at a place in the settings."""
    kind: Any = Settings
    for name in path:
        kind = get_type_hints(kind)[name]
    return kind


def _made(kind: Any, values: Values) -> Any:
    """The record with values at places in it, and defaults elsewhere."""
    types = get_type_hints(kind)
    inner: dict[str, Values] = {}
    for (name, *rest), value in values.items():
        inner.setdefault(name, {})[tuple(rest)] = value
    made = {name: own[()] if () in own else _made(types[name], own) for name, own in inner.items()}
    return kind(**made)


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
            near = did_you_mean(str(value), get_args(kind))
            hint = f"; {near}" if near else ""
            raise ConfigError(
                f"{what} is {' or '.join(get_args(kind))}, not {describe(value)}{hint}"
            )
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


def _unknown(noun: str, name: str, known: tuple[str, ...], place: str) -> str:
    hint = did_you_mean(name, known) or f"there are {', '.join(known)}"
    return f"{place}: unknown {noun} {name}; {hint}"

"""`wherecast publish`: publishes a file, standard input, or name=value pairs."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from wherecast.cli import screen
from wherecast.cli.remote import Remote, path_of
from wherecast.columns.json import read_json
from wherecast.columns.unreadable import unreadable_in
from wherecast.model import ConfigError, PublicationError
from wherecast.model.errors import reason_of
from wherecast.model.values import ELEMENTS

_LINES_AT_ONCE = 1_000
_BYTES_AT_ONCE = 8 << 20
_SHOWN_MAX = 10
_NDJSON = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """The options of the command.

    Attributes:
        pairs: attributes of one publication, as `name=value`.
        file: a file of publications, `-` for standard input.
        stream: stream of the publications.
        id: id of the one publication.
        url: URL of the server.
        as_json: whether the summary is printed as JSON.
    """

    pairs: tuple[str, ...]
    file: str | None
    stream: str
    id: str | None
    url: str | None
    as_json: bool


@dataclass(slots=True)
class _Sum:
    """The verdicts of the server on all publications."""

    accepted: int = 0
    rejected: int = 0
    duplicates: int = 0
    errors: list[dict[str, Any]] = field(default_factory=list)

    def add(self, done: dict[str, Any], first: int) -> None:
        self.accepted += done["accepted"]
        self.rejected += done["rejected"]
        self.duplicates += done["duplicates"]
        self.errors += [error | {"index": error["index"] + first} for error in done["errors"]]


def run_publish(options: PublishOptions) -> bool:
    """Publishes and prints the verdicts; returns whether no publication was rejected.

    Raises:
        ConfigError: neither or both of pairs and a file are given, or one is invalid.
        Unreachable: no server answers.
        RefusedByServer: the server refused the request.
    """
    if bool(options.pairs) == (options.file is not None):
        raise ConfigError("give either name=value pairs, or --file with a file or -")
    remote = Remote(options.url)
    path = path_of("streams", options.stream, "publications")
    total = _Sum()
    if options.pairs:
        total.add(remote.call("POST", path, _one(remote, options))[1], 0)
    else:
        assert options.file is not None
        _publish_lines(remote, path, _lines(options.file), total)
    _show(total, options.as_json)
    return not total.rejected


def _one(remote: Remote, options: PublishOptions) -> dict[str, Any]:
    """The publication of name=value pairs, with values in the types of the schema."""
    _, stream = remote.call("GET", path_of("streams", options.stream))
    declared = stream["schema"]["attributes"]
    attributes: dict[str, Any] = {}
    for pair in options.pairs:
        name, sign, text = pair.partition("=")
        if not sign or not name:
            raise ConfigError(f"{pair} is not a name=value pair")
        if name in attributes:
            raise ConfigError(f"{name} is given twice")
        attributes[name] = _value(text, declared.get(name))
    return {"attributes": attributes} | ({} if options.id is None else {"id": options.id})


def _value(text: str, declared: Any) -> Any:
    kind = declared.get("type") if isinstance(declared, dict) else declared
    if kind in ("string", "timestamp"):
        return text
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    if isinstance(value, list) and kind in ELEMENTS:
        return value
    return value if isinstance(value, bool | int | float | None) else text


def _lines(file: str) -> Iterator[bytes]:
    """The publication objects of a file, one per line."""
    path = Path(file)
    if file != "-" and path.suffix.lower() == ".json":
        yield from map(orjson.dumps, _document(path))
        return
    try:
        with sys.stdin.buffer if file == "-" else path.open("rb") as lines:
            yield from (line for line in lines if line.strip())
    except OSError as error:
        raise ConfigError(f"{file}: {reason_of(error).lower()}") from None


def _document(path: Path) -> list[Any]:
    """The publications of a JSON file, read as strictly as the server reads."""
    try:
        found = list(read_json(path.read_bytes()))
    except OSError as error:
        raise ConfigError(f"{path}: {reason_of(error).lower()}") from None
    except PublicationError as error:
        raise ConfigError(f"{path}: {error}") from None
    for keys, unreadable in unreadable_in(found):
        place = ".".join(map(str, keys[1:])) or "it"
        raise ConfigError(f"{path}: publication {keys[0]}: {place}: {unreadable.text}")
    return found


def _publish_lines(remote: Remote, path: str, lines: Iterable[bytes], total: _Sum) -> None:
    first = 0
    with screen.progress("Publishing", lambda _: f"{total.accepted:,} accepted"):
        for part in _parts(lines):
            body = b"".join(_envelope(line) for line in part)
            total.add(remote.call("POST", path, body, _NDJSON)[1], first)
            first += len(part)


def _parts(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The lines in parts, one per request."""
    waiting = iter(lines)
    while part := list(islice(waiting, _LINES_AT_ONCE)):
        while sum(map(len, part)) > _BYTES_AT_ONCE and len(part) > 1:
            half = len(part) // 2
            yield part[:half]
            part = part[half:]
        yield part


def _envelope(line: bytes) -> bytes:
    """The publication object of a line; an object without `attributes` is the attributes."""
    text = line.strip()
    try:
        given = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text + b"\n"  # the server reports the error
    if isinstance(given, dict) and "attributes" not in given:
        text = b'{"attributes":' + text + b"}"
    return text + b"\n"


def _show(total: _Sum, as_json: bool) -> None:
    if as_json:
        names = ("accepted", "rejected", "duplicates", "errors")
        print(orjson.dumps({name: getattr(total, name) for name in names}).decode())
        return
    print(
        f"{total.accepted:,} accepted, {total.rejected:,} rejected, {total.duplicates:,} duplicates"
    )
    for error in total.errors[:_SHOWN_MAX]:
        print(f"  publication {error['index']}: {error['message']}", file=sys.stderr)
    if len(total.errors) > _SHOWN_MAX:
        more = len(total.errors) - _SHOWN_MAX
        print(f"  … and {more:,} more (--json shows all)", file=sys.stderr)

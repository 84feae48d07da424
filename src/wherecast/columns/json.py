r"""Publications as JSON: one object, an array of objects, or an object per line.

orjson decodes the text. A slower reader takes over only where orjson is not strict enough (a key
given twice, of which orjson keeps the last value) or refuses a whole document because of one
number, text or depth. The slower reader cuts the document into its publications and reads each on
its own, so that one bad publication does not cost the others.

The rules:

- Text that is not JSON (empty, cut off, not UTF-8, with a byte order mark or a stray character): an
  array or object is refused as a whole, since nothing after the error can be trusted; in NDJSON
  only the line is refused.
- `NaN` and `Infinity` are `not_finite`; `1e999` and integers that no double holds are
  `out_of_range`; a key given twice is `duplicate_key`; nesting beyond the limit is `too_deep`;
  a lone surrogate is `malformed`: that publication is refused.
- An integer beyond 64 bits is refused for an int attribute. A float attribute takes the nearest
  double.
- NUL in a string (written `\u0000`) is accepted like any other character. Bare control characters
  are not JSON.
- An NDJSON body without lines has no rows and is valid; an empty JSON body is an error.
"""

import json
from collections.abc import Callable, Sequence
from math import isinf
from typing import Any

import orjson

from wherecast.columns.decoded import Decoded
from wherecast.columns.json_outline import count_keys, depth_of, elements
from wherecast.columns.rows import decode_rows
from wherecast.columns.unreadable import Unreadable
from wherecast.model.errors import PublicationError
from wherecast.model.limits import DEFAULT_LIMITS, Limits
from wherecast.model.schema import Schema
from wherecast.model.values import describe

Body = bytes | bytearray | memoryview

_WHITE = b" \t\r\n"
_DIGITS_MAX = 4_000  # Python refuses to read 4,300; a double has at most 309


def decode_json(body: Body, schema: Schema, limits: Limits = DEFAULT_LIMITS) -> Decoded:
    """The record batch of one object or of an array of objects.

    Raises:
        PublicationError: the body is not JSON, or is neither an object nor an array.
    """
    return decode_rows(read_json(body, limits), schema, limits)


def decode_ndjson(body: Body, schema: Schema, limits: Limits = DEFAULT_LIMITS) -> Decoded:
    """The record batch of one object per line.

    Blank lines are skipped; row numbers count the other lines from 0. A line that is not JSON is
    a bad row.
    """
    return decode_rows(read_ndjson(body, limits), schema, limits)


def read_json(body: Body, limits: Limits = DEFAULT_LIMITS) -> list[Any]:
    """The objects of a body that is one object or an array; attributes are not checked.

    `Unreadable` stands in place of an object, or of a value in it, that could not be read.

    Raises:
        PublicationError: the body is not JSON, or is neither an object nor an array.
    """
    text = bytes(body)
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if not text.strip(_WHITE):
            raise PublicationError("the body is empty; it needs an object or an array") from None
        return _piece_by_piece(text, limits, error)
    if isinstance(document, dict):
        rows: list[Any] = [document]
    elif isinstance(document, list):
        rows = document
    else:
        kind = describe(document)
        raise PublicationError(f"the body is an object or an array of objects, not {kind}")
    return _piece_by_piece(text, limits) if _repeats_keys(text, rows) else rows


def read_ndjson(body: Body, limits: Limits = DEFAULT_LIMITS) -> list[Any]:
    """The objects of a body with one object per line, as `read_json` gives them."""
    lines = [line for line in (raw.strip(_WHITE) for raw in bytes(body).split(b"\n")) if line]
    return _each(lines, lambda number: _line(lines[number], limits))


def _repeats_keys(text: bytes, rows: Sequence[Any]) -> bool:
    """Whether a key is given twice: the text then has more keys than the decoded rows."""
    keys = _decoded_keys(rows, nested=text.count(b"{") > len(rows))
    return text.count(b":") != keys and count_keys(text) != keys


def _decoded_keys(rows: Sequence[Any], nested: bool) -> int:
    """The number of keys in all objects of the rows."""
    if not nested:  # no more braces than rows: no object lies inside another
        return sum(len(row) for row in rows if isinstance(row, dict))
    keys = 0
    waiting: list[Any] = [rows]
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            keys += len(value)
            value = value.values()
        for item in value:
            kind = type(item)
            if kind is dict or kind is list:
                waiting.append(item)
    return keys


def _each(pieces: Sequence[bytes], strict: Callable[[int], Any]) -> list[Any]:
    """The row of each piece of text, each read on its own.

    Args:
        pieces: the text of one publication each.
        strict: reads a piece, given by its number, that orjson refused or that repeats a key.
    """
    rows: list[Any] = []
    refused: list[int] = []
    for number, piece in enumerate(pieces):
        try:
            rows.append(orjson.loads(piece))
        except orjson.JSONDecodeError:
            rows.append(None)
            refused.append(number)
    out = set(refused)
    read = b"\n".join(piece for number, piece in enumerate(pieces) if number not in out)
    if _repeats_keys(read, [row for number, row in enumerate(rows) if number not in out]):
        return [strict(number) for number in range(len(pieces))]
    for number in refused:
        rows[number] = strict(number)
    return rows


def _piece_by_piece(text: bytes, limits: Limits, error: Exception | None = None) -> list[Any]:
    """The rows of a body, each read on its own.

    Raises:
        PublicationError: a piece is not JSON, so the body is not JSON.
    """
    try:
        text.decode()
    except UnicodeDecodeError as wrong:
        raise PublicationError(f"the body is not UTF-8 text at byte {wrong.start}") from None
    spans = elements(text)
    if spans is None and text.lstrip(_WHITE)[:1] == b"[" and error is not None:
        raise _not_json(text, error)
    if spans is None:
        spans = [(0, len(text))]

    def strict(number: int) -> Any:
        start, end = spans[number]
        try:
            return _strict(text[start:end], limits)
        except json.JSONDecodeError as wrong:
            raise _not_json(text, wrong, start) from None

    return _each([text[start:end] for start, end in spans], strict)


def _not_json(text: bytes, error: Exception, start: int = 0) -> PublicationError:
    """The error of a body that is not JSON, with the line and the column of the fault."""
    assert isinstance(error, json.JSONDecodeError)
    before = text[:start].decode()
    place = len(before) + error.pos
    whole = text.decode()
    line = whole.count("\n", 0, place) + 1
    column = place - whole.rfind("\n", 0, place)
    return PublicationError(f"not valid JSON at line {line}, column {column}: {error.msg.lower()}")


def _line(line: bytes, limits: Limits) -> Any:
    """The row of one line; `Unreadable` if the line is not JSON."""
    try:
        return _strict(line, limits)
    except UnicodeDecodeError as error:
        return Unreadable("malformed", f"not UTF-8 text at byte {error.start}")
    except json.JSONDecodeError as error:
        text = f"not valid JSON at column {error.pos + 1}: {error.msg.lower()}"
        return Unreadable("malformed", text)


def _strict(text: bytes, limits: Limits) -> Any:
    """The value of one publication's text, with `Unreadable` in place of each bad value.

    Raises:
        json.JSONDecodeError: the text is not JSON.
        UnicodeDecodeError: the text is not UTF-8.
    """
    deep = Unreadable("too_deep", f"nested deeper than the limit of {limits.json_depth_max}")
    brackets = text.count(b"{") + text.count(b"[")
    if brackets > limits.json_depth_max and depth_of(text) > limits.json_depth_max:
        return deep
    try:
        return json.loads(
            text.decode(),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except RecursionError:  # possible only if the configured depth is very large
        return deep


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of key and value pairs, with `Unreadable` as the value of a repeated key."""
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                result[key] = Unreadable("duplicate_key", "is given twice in one object")
            seen.add(key)
    return result


def _constant(name: str) -> Unreadable:
    return Unreadable("not_finite", f"{name} is not a number in JSON")


def _float(text: str) -> float | Unreadable:
    number = float(text)
    if isinf(number):
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        return Unreadable("out_of_range", f"{shown} is too large for a double")
    return number


def _int(text: str) -> int | Unreadable:
    digits = len(text.lstrip("-"))
    if digits > _DIGITS_MAX:
        return Unreadable("out_of_range", f"an integer of {digits} digits is too large")
    return int(text)

"""Publication objects as they are sent: JSON text to columns, in one step.

An object is `{"attributes": {…}, "id": …, "payload": base64, "published_at": ISO time}`; all but
the attributes may be missing. Attributes become columns at once. The rest is looked at only where
it is there.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.broker.intake.intake import (
    FIRST_US,
    LAST_US,
    PreparedPublications,
    Rows,
    complete,
    headers_batch,
    id_problem,
    payload_problem,
)
from wherecast.columns import Rejection, decode_rows
from wherecast.columns.json import Body, read_json, read_ndjson
from wherecast.columns.unreadable import Unreadable
from wherecast.model import DEFAULT_LIMITS, Limits, Problem, PublicationError, Schema
from wherecast.model.names import did_you_mean
from wherecast.model.times import parse_time
from wherecast.model.values import describe
from wherecast.store.records import HEADERS, PAYLOAD

KEYS = ("attributes", "id", "payload", "published_at", "valid_for")
_KNOWN = frozenset(KEYS)
_KINDS = (HEADERS.field("id").type, HEADERS.field("published_at").type, PAYLOAD)
_Problem = tuple[str | None, str, str]  # the key it is about, a code, a sentence


def read_objects(
    body: Body, is_json: bool, rows_max: int, limits: Limits = DEFAULT_LIMITS
) -> list[Any]:
    """The publication objects of a body: JSON with one object or an array, or one per line.

    Raises:
        PublicationError: the body as a whole is not JSON, or neither object nor array, or has too
            many.
    """
    objects = read_json(body, limits) if is_json else read_ndjson(body, limits)
    refuse_many(len(objects), rows_max)
    return objects


def prepare_objects(
    objects: Sequence[Any],
    stream: str,
    schema: Schema,
    limits: Limits = DEFAULT_LIMITS,
    publishers: pa.Array | None = None,
) -> PreparedPublications:
    """Publications given as objects, as a log takes them, and why some are refused.

    Args:
        objects: as a JSON reader gives them; `Unreadable` stands where one could not be read.
        stream: where they are published.
        schema: of the stream.
        limits: of what each may be.
        publishers: who publishes each of them; string with nulls; None: no name is given.
    """
    attributes: list[Any] = []
    columns: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    refused: list[Rejection] = []
    for row, given in enumerate(objects):
        is_plain = type(given) is dict and type(given.get("attributes")) is dict
        attributes.append(given["attributes"] if is_plain else {})
        if is_plain and len(given) == 1:
            beside: tuple[Any, ...] = (None, None, None)
        else:
            problems: list[_Problem] = list(_misshapen(given))
            beside = () if problems else tuple(_beside(given, limits, problems))
            beside = (None, None, None) if problems else beside
            refused += [Rejection(row, code, text, key=key) for key, code, text in problems]
        for column, value in zip(columns, beside, strict=True):
            column.append(value)
    ids, moments, payloads = (
        pa.array(column, kind) for column, kind in zip(columns, _KINDS, strict=True)
    )
    headers = headers_batch(ids, moments, publishers)

    def headers_of(rows: Rows) -> tuple[pa.RecordBatch, pa.Array]:
        if len(rows) == len(objects):
            return headers, payloads
        return headers.take(array_of(rows)), payloads.take(array_of(rows))

    decoded = decode_rows(attributes, schema, limits)
    return complete(decoded, refused, headers_of, stream, schema)


def refuse_many(count: int, most: int) -> None:
    """Raises PublicationError where a body has too many publications."""
    if count > most:
        text = f"{count} publications in one body; the limit limits.publications_max is {most}"
        raise PublicationError([Problem("too_many", text)])


def _misshapen(given: Any) -> Iterator[_Problem]:
    """Why something is no publication object."""
    if isinstance(given, Unreadable):
        yield None, given.code, given.text
    elif not isinstance(given, dict):
        yield None, "malformed", f"a publication is an object, not {describe(given)}"
    else:
        yield from unknown_keys(given, KEYS)
        if "attributes" not in given:
            yield "attributes", "missing", 'a publication is {"attributes": {…}}; they are missing'
        elif type(given["attributes"]) is not dict:
            yield "attributes", *_not("attributes is an object", given["attributes"])


def unknown_keys(given: Mapping[str, Any], known: Sequence[str]) -> Iterator[_Problem]:
    """The keys of an object that it must not have."""
    for key in given:
        if key not in known:
            shown = key[:100].encode("utf-8", "backslashreplace").decode()
            hint = did_you_mean(shown, known) or f"known keys are {', '.join(known)}"
            yield shown, "unknown_key", f"unknown key {shown}; {hint}"


def _not(wanted: str, value: Any) -> tuple[str, str]:
    """The code and the sentence for a value that is something else."""
    if isinstance(value, Unreadable):
        return value.code, f"{wanted}: {value.text}"
    return "wrong_type", f"{wanted}, not {describe(value)}"


def _beside(given: dict[str, Any], limits: Limits, problems: list[_Problem]) -> Iterator[Any]:
    """The id, time and payload of an object; what is wrong with them is added to the problems."""
    yield _id(given.get("id"), problems)
    yield _moment(given.get("published_at"), problems)
    yield _payload(given.get("payload"), limits, problems)
    if given.get("valid_for") is not None:
        text = "valid_for is not supported yet; leave it out"
        problems.append(("valid_for", "not_supported", text))


def _id(value: Any, problems: list[_Problem]) -> Any:
    if isinstance(value, Unreadable):
        problems.append(("id", value.code, f"id: {value.text}"))
    elif value is not None and (problem := id_problem(value)) is not None:
        problems.append(("id", "wrong_type", problem))
    return value


def _moment(value: Any, problems: list[_Problem]) -> int | None:
    if value is None:
        return None
    if not isinstance(value, str):
        problems.append(("published_at", *_not("published_at is an ISO 8601 time", value)))
        return None
    try:
        micros = parse_time(value)
    except ValueError as error:
        problems.append(("published_at", "bad_time", f"published_at: {_shortened(str(error))}"))
        return None
    if not FIRST_US <= micros <= LAST_US:
        text = "published_at is not of the years 1 to 9999, in UTC"
        problems.append(("published_at", "bad_time", text))
    return micros


def _payload(value: Any, limits: Limits, problems: list[_Problem]) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, str):
        problems.append(("payload", *_not("payload is a base64 string", value)))
        return None
    try:
        payload = base64.b64decode(value, validate=True)
    except (ValueError, binascii.Error):
        problems.append(("payload", "malformed", "payload is a base64 string, and this is none"))
        return None
    problem = payload_problem(payload, limits)
    if problem is not None:
        problems.append(("payload", "too_large", problem))
    return payload


def _shortened(text: str) -> str:
    """A text that fits into a message, and is text in any encoding."""
    short = text if len(text) <= 200 else f"{text[:200]}…"
    return short.encode("utf-8", "backslashreplace").decode()

"""Requests of clients: JSON objects, checked against the message that is expected."""

from typing import Any, TypeVar

from pydantic import ValidationError

from wherecast.columns.json import read_json
from wherecast.columns.unreadable import Unreadable, unreadable_in
from wherecast.model import PublicationError
from wherecast.model.names import did_you_mean
from wherecast.model.values import describe
from wherecast.server.http.messages.declaration import adapter_of
from wherecast.server.http.messages.error_messages import Refused, pointer_to

T = TypeVar("T")

_KINDS = {
    "string_type": "a string",
    "dict_type": "an object",
    "list_type": "a list",
    "bool_type": "true or false",
}


def read_request(kind: type[T], body: bytes | str) -> T:
    """The message of a body: one JSON object.

    Raises:
        Refused: the body is something else.
    """
    text = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    if not text.strip():
        raise Refused(400, "malformed", "the body is empty; it needs an object")
    try:
        rows = read_json(text)
    except PublicationError as error:
        raise Refused(400, "malformed", str(error)) from None
    if text.lstrip()[:1] != b"{":
        raise Refused(422, "wrong_type", "the body is an object, not an array")
    [given] = rows
    for keys, unreadable in unreadable_in(given):
        place = ".".join(map(str, keys))
        message = f"{place}: {unreadable.text}" if keys else unreadable.text
        raise Refused(422 if keys else 400, unreadable.code, message, pointer_to(*keys))
    return check_request(kind, given)


def check_request(kind: type[T], given: Any) -> T:
    """An object as a message; a key whose value is null counts as missing.

    Raises:
        Refused: the object is no such message.
    """
    try:
        found = adapter_of(kind).validator.validate_python(given)
    except ValidationError:
        return _checked(kind, given)
    if any(value is None or isinstance(value, Unreadable) for value in given.values()):
        return _checked(kind, given)
    message: T = found
    return message


def _checked(kind: type[T], given: Any) -> T:
    """The same for an object that is no such message at first sight: part by part."""
    if isinstance(given, Unreadable):
        raise Refused(400, given.code, given.text, "")
    if not isinstance(given, dict):
        raise Refused(422, "wrong_type", f"an object is needed, not {describe(given)}", "")
    _check_keys(given, tuple(kind.__annotations__))
    for key, value in given.items():
        if isinstance(value, Unreadable):
            raise Refused(422, value.code, f"{key}: {value.text}", pointer_to(key))
    present = {key: value for key, value in given.items() if value is not None}
    try:
        return adapter_of(kind).validate_python(present)
    except ValidationError as error:
        raise _refused(error) from None


def _check_keys(given: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            shown = key[:100].encode("utf-8", "backslashreplace").decode()
            hint = did_you_mean(shown, known) or f"known keys are {', '.join(known)}"
            raise Refused(422, "unknown_key", f"unknown key {shown}; {hint}", pointer_to(shown))


def _refused(error: ValidationError) -> Refused:
    """The refusal of what is wrong first: what is missing comes before what has a wrong type."""
    found = error.errors(include_url=False)
    first = min(found, key=lambda one: one["type"] != "missing")
    key, value = str(first["loc"][-1]), first["input"]
    pointer = pointer_to(*first["loc"])
    if first["type"] == "missing":
        return Refused(422, "missing", f"{key} is missing", pointer)
    if first["type"] == "too_long":
        most = first["ctx"]["max_length"]
        return Refused(422, "too_many", f"{len(value)} {key}, the limit is {most}", pointer)
    if first["type"] == "too_short":
        return Refused(422, "wrong_type", f"{key} is empty", pointer)
    wanted = _KINDS.get(first["type"], first["msg"].lower())
    return Refused(422, "wrong_type", f"{key} is {wanted}, not {describe(value)}", pointer)

"""Small JSON documents of requests: one object with known keys."""

from typing import Any

from wherecast.broker.intake.json_bodies import unknown_keys
from wherecast.columns.json import read_json
from wherecast.columns.rows import Unreadable, unreadable_in
from wherecast.model import PublicationError
from wherecast.model.values import describe
from wherecast.server.http.messages.answers import Refused, pointer_to


def object_of(body: bytes | str, known: tuple[str, ...], needed: tuple[str, ...]) -> dict[str, Any]:
    """The object of a body, which has the needed keys, and no others than the known ones.

    Raises:
        Refused: it is something else.
    """
    text = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    if not text.strip():
        raise Refused(400, "malformed", "the body is empty; it needs an object")
    try:
        found = read_json(text)
    except PublicationError as error:
        raise Refused(400, "malformed", str(error)) from None
    if text.lstrip()[:1] != b"{":
        raise Refused(422, "wrong_type", "the body is an object, not an array")
    [given] = found
    for keys, unreadable in unreadable_in(given):
        place = ".".join(map(str, keys))
        told = f"{place}: {unreadable.text}" if keys else unreadable.text
        raise Refused(422 if keys else 400, unreadable.code, told, pointer_to(*keys))
    return checked_object(given, known, needed)


def checked_object(
    given: Any, known: tuple[str, ...], needed: tuple[str, ...], *place: str | int
) -> dict[str, Any]:
    """An object that has the needed keys, and no others than the known ones.

    Raises:
        Refused: it is something else.
    """
    if isinstance(given, Unreadable):
        raise Refused(400, given.code, given.text, pointer_to(*place))
    if not isinstance(given, dict):
        text = f"an object is needed, not {describe(given)}"
        raise Refused(422, "wrong_type", text, pointer_to(*place))
    for key, code, message in unknown_keys(given, known):
        raise Refused(422, code, message, pointer_to(*place, key or ""))
    for key in needed:
        if given.get(key) is None:
            raise Refused(422, "missing", f"{key} is missing", pointer_to(*place, key))
    for key, value in given.items():
        if isinstance(value, Unreadable):
            raise Refused(422, value.code, f"{key}: {value.text}", pointer_to(*place, key))
    return given


def string_of(given: dict[str, Any], key: str, default: str | None = None) -> str:
    """The string of a key.

    Raises:
        Refused: it is something else.
    """
    value = given.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        text = f"{key} is a string, not {describe(value)}"
        raise Refused(422, "wrong_type", text, pointer_to(key))
    return value

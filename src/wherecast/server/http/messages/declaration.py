"""What a message is: a `TypedDict` with the keys it names and no others.

Fields say what they mean and give an example: `Annotated[int, Field(description=…, examples=[…])]`.
A key that may be missing is `NotRequired`.
"""

from decimal import Decimal
from typing import Any, TypeVar

import orjson
from pydantic import ConfigDict, TypeAdapter, with_config

message = with_config(ConfigDict(extra="forbid", strict=True))
"""Declares a message: a `TypedDict` that is checked strictly."""

T = TypeVar("T")
_adapters: dict[Any, TypeAdapter[Any]] = {}


def adapter_of(kind: type[T]) -> TypeAdapter[T]:
    """What checks and describes a message."""
    found = _adapters.get(kind)
    if found is None:
        found = _adapters[kind] = TypeAdapter(kind)
    return found


def schema_of(kind: type[Any]) -> dict[str, Any]:
    """The JSON schema of a message, complete in itself."""
    schema = adapter_of(kind).json_schema()
    parts = schema.pop("$defs", {})
    whole: dict[str, Any] = _inlined(schema, parts)
    return whole


def example_of(kind: type[Any]) -> Any:
    """An example of a message, made from the examples of its fields."""
    return _example(schema_of(kind))


def write(document: Any) -> bytes:
    """A message as JSON. A decimal is a string, so that no digit is lost.

    A lone surrogate, which errors may quote from a request, becomes U+FFFD.

    Raises:
        TypeError: JSON has no form for a value.
    """
    try:
        return orjson.dumps(document, _plain, orjson.OPT_UTC_Z)
    except TypeError:
        return orjson.dumps(_without_surrogates(document), _plain, orjson.OPT_UTC_Z)


def _without_surrogates(part: Any) -> Any:
    if isinstance(part, str):
        return part.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(part, dict):
        return {_without_surrogates(key): _without_surrogates(one) for key, one in part.items()}
    if isinstance(part, list | tuple):
        return [_without_surrogates(one) for one in part]
    return part


def _plain(value: Any) -> str:
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"JSON has no form for {type(value).__name__}")


def _inlined(part: Any, parts: dict[str, Any]) -> Any:
    """A part of a schema with the parts that it refers to in their places."""
    if isinstance(part, list):
        return [_inlined(one, parts) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inlined(parts[part["$ref"].rpartition("/")[2]], parts)
    return {key: _inlined(value, parts) for key, value in part.items()}


def _example(schema: dict[str, Any]) -> Any:
    if "examples" in schema:
        return schema["examples"][0]
    if schema.get("type") == "array":
        return [_example(schema["items"])]
    needed = schema.get("required", ())
    return {
        key: _example(field)
        for key, field in schema["properties"].items()
        if key in needed or "examples" in field
    }

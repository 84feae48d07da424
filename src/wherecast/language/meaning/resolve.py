"""Names in filters: which attribute a dotted name means, or the error that says why none."""

from wherecast.model import Attribute, FilterError, Schema, Type
from wherecast.model.decimals import PRECISION_MAX

_NOT_NUMBERS = ("nan", "infinity", "inf")


def resolve(
    schema: Schema, dotted: str, position: int | None = None, undeclared: Type = "any"
) -> Attribute:
    """The attribute that a name means; `undeclared` is its type where an open schema has none.

    Raises:
        FilterError: the schema knows no such attribute.
    """
    found = schema.find(dotted)
    if found is not None:
        return found
    shown = schema.unsupported_type(dotted)
    if shown is not None:
        message = f"{dotted} has type {shown}, which filters cannot use"
        raise FilterError(message, position, _cast_hint(shown))
    if dotted.casefold() in _NOT_NUMBERS:
        raise FilterError(f"{dotted} is not a constant that a filter can name", position)
    if schema.open:
        return Attribute(dotted, undeclared)
    hint = schema.hint(dotted)
    raise FilterError(f"unknown attribute {dotted}", position, hint, code="unknown_attribute")


def _cast_hint(shown: str) -> str | None:
    """What the column of a type that filters cannot use can be cast to, if there is such a type."""
    if shown.startswith("decimal"):
        return f"cast it to a decimal of at most {PRECISION_MAX} digits, or to double"
    if "collate" in shown.lower() or shown.startswith("char("):
        return "cast it to string"
    return None

"""Attributes of tables by name and kind, as files keep them; a derived one by its formula."""

from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.element import Element
from wherecast.language.meaning.formula import NOW
from wherecast.model import Attribute, Schema

_DERIVED = "derived"
_ELEMENT = "element"
_NOW = "now"


def attribute_name(attribute: Attribute) -> tuple[str, str]:
    """The name and the kind of an attribute."""
    if isinstance(attribute, Derived):
        return attribute.name, _DERIVED
    if isinstance(attribute, Element):
        return attribute.name, _ELEMENT
    return ("", _NOW) if attribute == NOW else (attribute.name, attribute.type)


def attribute_of(schema: Schema, name: str, kind: str) -> Attribute:
    """The attribute of a name and a kind: derived, declared by the schema, or undeclared."""
    if kind == _DERIVED:
        from wherecast.language.text.where import read_derived

        return read_derived(name, schema)
    if kind == _NOW:
        return NOW
    declared = schema.find(name)
    if kind == _ELEMENT and declared is not None and declared.element is not None:
        return Element.of(declared)
    same = declared is not None and (declared.name, declared.type) == (name, kind)
    return declared if declared is not None and same else Attribute(name, kind)  # type: ignore[arg-type]

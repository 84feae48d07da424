"""Reads the text of a WHERE clause: steps, then names, types and constants."""

from wherecast.language.meaning.bind import Binder
from wherecast.language.meaning.bind_predicates import NoteOperand, note_nothing
from wherecast.language.meaning.constants import ReadConstant, read_constant
from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.expression import Expression
from wherecast.language.text.parser import parse
from wherecast.model import DEFAULT_LIMITS, Attribute, FilterError, Limits, Schema


def read_where(
    text: str,
    schema: Schema,
    limits: Limits,
    constant: ReadConstant = read_constant,
    note: NoteOperand = note_nothing,
) -> Expression:
    """The expression of a WHERE clause.

    `constant` reads the constants beside attributes. `note` is called with each constant and each
    condition that becomes an operand of a formula.

    Raises:
        FilterError: with the place and a hint.
    """
    try:
        return Binder(schema, limits, constant, note).bind(parse(text, limits))
    except FilterError as error:
        error.found_in(text)
        raise


def read_derived(text: str, schema: Schema) -> Attribute:
    """The derived attribute of the text of its formula.

    Raises:
        FilterError: the text is no formula of the schema.
    """
    found = Binder(schema, DEFAULT_LIMITS).bind_attribute(parse(text, DEFAULT_LIMITS))
    assert isinstance(found, Derived)
    return found

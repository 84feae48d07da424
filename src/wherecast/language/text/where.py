"""Reads the text of a WHERE clause with sqlglot, which is imported when the first one is read.

An index from a file, say, may never need it, and importing it takes as long as all else here.
"""

from wherecast.language.meaning.constants import ReadConstant, read_constant
from wherecast.language.meaning.expression import Expression
from wherecast.model import Limits, Schema


def read_where(
    text: str, schema: Schema, limits: Limits, constant: ReadConstant = read_constant
) -> Expression:
    """The expression of a WHERE clause; `constant` reads the constants beside attributes.

    Raises:
        FilterError: with the place and a hint.
    """
    from wherecast.language.meaning.bind import Binder
    from wherecast.language.text.parse import parse

    return Binder(schema, limits, constant).bind(parse(text, limits))


def unescaped(text: str) -> str:
    """The string that a quoted constant with escapes stands for."""
    from wherecast.language.text.parse import tokenize

    return tokenize(text)[0].text

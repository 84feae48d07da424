"""What sqlglot reads and the language does not have: an error for each, with its place."""

from typing import NoReturn

from sqlglot import exp

from wherecast.language.meaning.constants import Word
from wherecast.language.text.syntax_nodes import position_of, word_of
from wherecast.model import FilterError

_ARGUMENTS = ("this", "expression", "expressions", "low", "high", "negate", "query", "field")
_FUNCTIONS = "starts_with, ends_with, contains, lower, upper and geo_distance"


def check_arguments(tree: exp.Expression) -> None:
    """Refuses a node that says more than this module reads, such as BETWEEN SYMMETRIC."""
    if isinstance(tree, exp.Column | exp.Dot):
        return
    for key, value in tree.args.items():
        if value and key not in _ARGUMENTS:
            message = f"{type(tree).__name__.lower()} with {key.replace('_', ' ')}"
            raise FilterError(f"{message} is not in the language", position_of(tree))


def needed_word(tree: exp.Expression, what: str) -> Word:
    """The literal that a node must be.

    Raises:
        FilterError: it is something else.
    """
    word = word_of(tree)
    if word is None:
        if isinstance(tree, exp.Subquery | exp.Query):
            refuse(tree)
        raise FilterError(f"{what} takes constants only", position_of(tree))
    return word


def refuse(tree: exp.Expression) -> NoReturn:
    """Raises the error of something that is not in the language."""
    position = position_of(tree)
    if isinstance(tree, exp.Query | exp.Subquery | exp.Exists):
        raise FilterError("a filter cannot hold a subquery", position)
    if isinstance(tree, exp.Anonymous | exp.Func) and not isinstance(tree, exp.Connector):
        if isinstance(tree, exp.Cast):
            message = "casts and the type letters of numbers, other than L and D, are"
            raise FilterError(f"{message} not in the language", position)
        called = tree.name if isinstance(tree, exp.Anonymous) else tree.sql_name().lower()
        if called.lower() == "geo_distance":
            hint = "compare it, as in geo_distance(lat, lon, 45.8, 15.9) < 500"
            raise FilterError("geo_distance is a number of metres, not a condition", position, hint)
        raise FilterError(
            f"the function {called} is not in the language", position, f"there are {_FUNCTIONS}"
        )
    if isinstance(tree, exp.Alias):
        raise FilterError(f"unexpected {tree.alias}", position_of(tree.args.get("alias")))
    if isinstance(tree, exp.Binary | exp.Neg):
        operation = type(tree).__name__.lower()
        raise FilterError(f"the operation {operation} is not in the language", position)
    word = word_of(tree)
    if word is not None:
        raise FilterError("a constant is not a condition", position, "compare it with an attribute")
    raise FilterError(f"{type(tree).__name__.lower()} is not in the language", position)

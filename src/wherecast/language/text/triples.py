"""Filters as lists of triples: PADRES text, CUPUS and BE-Tree operator names, Python triples.

A list of triples is a conjunction.

Sources: PADRES extensions, section 3.2; CUPUS, section 4.3; elastic BE-Tree, table 5.1.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from operator import index
from typing import Any, Literal

from wherecast.language.meaning.constants import Word, check_text, read_constant
from wherecast.language.meaning.expression import (
    And,
    Between,
    Comparison,
    Expression,
    Member,
    Missing,
    Pattern,
    Truth,
)
from wherecast.language.meaning.patterns import check_pattern
from wherecast.language.meaning.resolve import resolve
from wherecast.model import FilterError, Limits, Schema, Type, format_time
from wherecast.model.names import did_you_mean
from wherecast.model.times import time_micros
from wherecast.model.values import describe

Form = Literal["compare", "between", "in", "not in", "pattern", "present", "missing"]

_OPERATORS: dict[str, tuple[Form, str]] = {
    **{sign: ("compare", sign) for sign in ("=", "<>", "<", "<=", ">", ">=")},
    **dict.fromkeys(("==", "eq", "equal", "equals"), ("compare", "=")),
    **dict.fromkeys(("!=", "neq", "not_equal"), ("compare", "<>")),
    "less_than": ("compare", "<"),
    "less_or_equal": ("compare", "<="),
    "greater_than": ("compare", ">"),
    "greater_or_equal": ("compare", ">="),
    "between": ("between", ""),
    "in": ("in", ""),
    "not in": ("not in", ""),
    "like": ("pattern", "like"),
    "ilike": ("pattern", "ilike"),
    "ispresent": ("present", ""),
    "is not null": ("present", ""),
    "is null": ("missing", ""),
}
for _kind, _names in {
    "prefix": ("str-prefix", "starts_with_string", "starts_with", "startswith"),
    "suffix": ("str-suffix", "ends_with_string", "ends_with", "endswith"),
    "contains": ("str-contains", "contains_string", "contains"),
}.items():
    _OPERATORS.update(dict.fromkeys(_names, ("pattern", _kind)))
_UNDECLARED: dict[str, Type] = {"number": "float", "string": "string", "bool": "bool"}

# possessive, so that a hostile text costs no more than its length
_TRIPLE = re.compile(r"\s*+\[\s*+([^,\[\]]++),\s*+([^,\[\]]++)(?=[,\]])")
_VALUE = re.compile(
    r"""(?s),\s*+(?:'((?:[^'\\]|\\.|'')*+)'\s*+|"((?:[^"\\]|\\.)*+)"\s*+|([^,\[\]'"]++))(?=[,\]])"""
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_WILDCARD: dict[str, Any] = {"kind": "string", "text": "*"}


@dataclass(frozen=True, slots=True)
class Triple:
    """An attribute, an operator name and constants, as written, and where the first two stand."""

    name: str
    operator: str
    words: tuple[Word, ...]
    position: int | None = None
    operator_position: int | None = None


def bind_triples(triples: Sequence[Triple], schema: Schema, limits: Limits) -> Expression:
    """The conjunction of the triples.

    Raises:
        FilterError: one of them cannot be read, with its place.
    """
    if len(triples) > limits.predicates_max:
        message = f"the filter exceeds the limit of {limits.predicates_max} predicates"
        raise FilterError(message, code="limit")
    parts = tuple(_predicate(triple, schema, limits) for triple in triples)
    return parts[0] if len(parts) == 1 else And(parts)


def parse_triples(text: str) -> list[Triple]:
    """The triples of a PADRES text such as `[class,eq,'STOCK'],[volume,>,300000]`.

    Raises:
        FilterError: the text is not such a list, with the place.
    """
    triples: list[Triple] = []
    place = 0
    while True:
        head = _TRIPLE.match(text, place)
        if head is None:
            hint = "a triple is [attribute,operator,value]"
            raise FilterError("not a list of triples", place, hint)
        words, place = _values(text, head.end())
        name, operator = head[1].rstrip().strip("`"), head[2].rstrip()
        triples.append(Triple(name, operator, words, head.start(1), head.start(2)))
        if text[place : place + 1] != "]":
            raise FilterError("a triple is not closed", place, "write ] after its value")
        rest = text[place + 1 :].lstrip()
        if not rest:
            return triples
        if not rest.startswith(","):
            raise FilterError("expected a comma between triples", len(text) - len(rest))
        place = len(text) - len(rest) + 1


def read_triples(given: Iterable[Any]) -> list[Triple]:
    """The triples of Python values such as `[("volume", ">", 300000)]`.

    The order (attribute, value, operator) of CUPUS is understood too where it is unambiguous.
    """
    triples: list[Triple] = []
    for number, item in enumerate(given):
        if not isinstance(item, tuple | list) or len(item) not in (2, 3):
            hint = 'a triple is ("volume", ">", 300000)'
            raise FilterError(f"triple {number} is not (attribute, operator, value)", hint=hint)
        name, operator, *values = item
        if values and not _known(operator) and _known(values[0]):
            operator, values = values[0], [operator]
        if not isinstance(name, str) or not isinstance(operator, str):
            raise FilterError(f"triple {number} needs an attribute and an operator as strings")
        several = values and isinstance(values[0], list | tuple | set | frozenset)
        items = list(values[0]) if several else values
        if several and isinstance(values[0], set | frozenset):
            items.sort(key=repr)
        triples.append(Triple(name, operator, tuple(_word(value) for value in items)))
    if not triples:
        raise FilterError("the list of triples is empty", hint="write TRUE to match everything")
    return triples


def _known(operator: object) -> bool:
    return isinstance(operator, str) and operator.casefold() in _OPERATORS


def _values(text: str, place: int) -> tuple[tuple[Word, ...], int]:
    """The values after a triple's operator, and where they end."""
    words: list[Word] = []
    while (found := _VALUE.match(text, place)) is not None:
        group = found.lastindex or 3
        start, shown = found.start(group), found[group]
        if group < 3:
            plain = re.sub(r"\\(.)", r"\1", shown.replace("''", "'"), flags=re.DOTALL)
            words.append(Word("string", plain, start - 1))
        else:
            words.append(_bare_word(shown.rstrip(), start))
        place = found.end()
    return tuple(words), place


def _bare_word(text: str, place: int) -> Word:
    """The word of a value without quotes: a number, a truth value, or a string."""
    if _NUMBER.fullmatch(text):
        return Word("number", text.lstrip("+-"), place, text.startswith("-"))
    if text.casefold() in ("true", "false"):
        return Word("bool", text.casefold(), place)
    return Word("string", text, place)


def _word(value: object) -> Word:
    """The word of a Python value."""
    if value is None:
        return Word("null", "NULL")
    if isinstance(value, bool):
        return Word("bool", str(value).lower())
    if isinstance(value, str):
        return Word("string", value)
    if isinstance(value, datetime):
        return Word("time", format_time(time_micros(value)))
    if isinstance(value, date):
        return Word("date", value.isoformat())
    if hasattr(value, "__index__"):  # an int of Python or numpy
        return _exact_word(Decimal(index(value)))
    if isinstance(value, float | Decimal):
        if not Decimal(value).is_finite():
            raise FilterError(f"{value} is not a constant that a filter can name")
        exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
        return _exact_word(exact)
    raise FilterError(f"{describe(value)} is not a constant that a filter can name")


def _exact_word(value: Decimal) -> Word:
    return Word("number", str(value.copy_abs()), None, value.is_signed())


def _predicate(triple: Triple, schema: Schema, limits: Limits) -> Expression:
    operator = triple.operator.casefold()
    if operator not in _OPERATORS:
        hint = did_you_mean(operator, _OPERATORS)
        place = triple.operator_position
        raise FilterError(f"unknown operator {triple.operator}", place, hint)
    form, detail = _OPERATORS[operator]
    words = triple.words
    kind = "string" if form == "pattern" else words[0].kind if words else "null"
    attribute = resolve(schema, triple.name, triple.position, _UNDECLARED.get(kind, "any"))
    if form in ("present", "missing"):
        return Missing(attribute, negated=form == "present")
    _check_words(triple, form, limits)
    if form == "compare" and detail == "=" and words[0] == words[0]._replace(**_WILDCARD):
        return Missing(attribute, negated=True)
    if form == "pattern":
        if words[0].kind == "null":
            return Truth(None)
        text = check_text(attribute, words[0], triple.operator)
        pattern = Pattern(attribute, detail, text)  # type: ignore[arg-type]
        check_pattern(pattern, limits, words[0].position)
        return pattern
    given = [word for word in words if word.kind != "null"]
    if not given or (form == "between" and len(given) < 2):
        return Truth(None)
    values = [read_constant(attribute, word) for word in given]
    if form == "between":
        return Between(attribute, values[0], values[1])
    if form == "compare":
        return Comparison(attribute, detail, values[0])  # type: ignore[arg-type]
    return Member(attribute, tuple(values), form == "not in", len(given) < len(words))


def _check_words(triple: Triple, form: Form, limits: Limits) -> None:
    """Refuses a wrong number of constants, and constants that are too long."""
    count, needed = len(triple.words), 2 if form == "between" else 1
    if count < needed or (count > needed and form not in ("in", "not in")):
        plural = "s" if needed > 1 else ""
        message = f"{triple.operator} takes {needed} value{plural}, not {count}"
        raise FilterError(message, triple.position)
    if count > limits.in_values_max:
        message = f"IN exceeds the limit of {limits.in_values_max} values"
        raise FilterError(message, triple.position, code="limit")
    for word in triple.words:
        if len(word.text.encode("utf-8", "replace")) > limits.literal_bytes_max:
            message = f"a literal exceeds the limit of {limits.literal_bytes_max} bytes"
            raise FilterError(message, word.position, code="limit")

"""An expression as the text of a WHERE clause that means the same."""

import re
from decimal import Decimal

from wherecast.language.meaning.expression import (
    And,
    Between,
    Compared,
    Comparison,
    Constant,
    Distance,
    Expression,
    Fold,
    Member,
    Missing,
    Not,
    Or,
    Pattern,
    Truth,
)
from wherecast.model import Attribute, format_time
from wherecast.model.decimals import decimal_of, decimal_text

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = frozenset(
    """
    ALL ALTER AND ANTI ANY ARRAY AS BETWEEN BOTH BY CASE CAST COLLATE CONNECT_BY_ROOT CREATE
    CROSS CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DATE DESCRIBE DISTINCT DIV
    DROP ELSE END ESCAPE EXCEPT EXISTS EXTRACT FALSE FETCH FILTER FOR FROM FULL GLOB GRANT GROUP
    HAVING ILIKE IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN LATERAL LEADING LEFT LIKE LIMIT
    MAP MINUS NAN NATURAL NOT NOTNULL NULL OFFSET ON OR ORDER OUTER OVER OVERLAPS PARTITIONED_BY
    QUALIFY REGEXP RETURNING REVOKE RIGHT RLIKE ROLLBACK SELECT SEMI SERDEPROPERTIES
    SESSION_USER SET SOME STRUCT TABLE TABLESAMPLE THEN TIME TIMESTAMP TO TRAILING TRUE UNCACHE
    UNION UNIQUE USING VALUES WHEN WHERE WITH WITHIN XOR
    """.split()  # noqa: SIM905
)
_MIDNIGHT = "T00:00:00Z"
_FUNCTIONS = {"prefix": "startswith", "suffix": "endswith", "contains": "contains"}


def write(expression: Expression) -> str:
    """The WHERE text of an expression."""
    return _write(expression, 0)


def _write(part: Expression, strength: int) -> str:
    """The text of a part inside something that binds with a strength: OR 1, AND 2, NOT 3."""
    if isinstance(part, Or):
        return _joined(part.parts, " OR ", 1, strength)
    if isinstance(part, And):
        return _joined(part.parts, " AND ", 2, strength)
    if isinstance(part, Not):
        text = f"NOT {_write(part.part, 3)}"
        return f"({text})" if strength > 3 else text
    return _predicate(part) if strength < 3 else f"({_predicate(part)})"


def _joined(parts: tuple[Expression, ...], word: str, own: int, strength: int) -> str:
    if not parts:
        return "TRUE" if own == 2 else "FALSE"
    text = word.join(_write(part, own if len(parts) > 1 else strength) for part in parts)
    return f"({text})" if own < strength and len(parts) > 1 else text


def _predicate(part: Expression) -> str:
    match part:
        case Truth(value):
            return {True: "TRUE", False: "FALSE", None: "NULL"}[value]
        case Comparison(attribute, operator, value, fold):
            return f"{_operand(attribute, fold)} {operator} {literal(attribute, value)}"
        case Between(attribute, low, high, fold):
            bounds = f"{literal(attribute, low)} AND {literal(attribute, high)}"
            return f"{_operand(attribute, fold)} BETWEEN {bounds}"
        case Member(attribute, values, negated, has_null, fold):
            shown = [literal(attribute, value) for value in values] + ["NULL"] * has_null
            return f"{_operand(attribute, fold)} {'NOT ' * negated}IN ({', '.join(shown)})"
        case Pattern():
            return _pattern(part)
        case Missing(attribute, negated):
            return f"{name(attribute.name)} IS {'NOT ' * negated}NULL"
        case Compared(left, operator, right):
            return f"{name(left.name)} {operator} {name(right.name)}"
        case Distance(latitude, longitude, point, operator, metres):
            place = f"{name(latitude.name)}, {name(longitude.name)}, {point[0]!r}, {point[1]!r}"
            return f"geo_distance({place}) {operator} {metres!r}"
    raise AssertionError(f"unknown predicate {part!r}")


def _pattern(part: Pattern) -> str:
    operand = _operand(part.attribute, part.fold)
    if part.kind in _FUNCTIONS:
        return f"{'NOT ' * part.negated}{_FUNCTIONS[part.kind]}({operand}, {quoted(part.text)})"
    escape = "" if part.escape == "\\" or part.kind == "rlike" else f" ESCAPE {quoted(part.escape)}"
    word = part.kind.upper()
    return f"{operand} {'NOT ' * part.negated}{word} {quoted(part.text)}{escape}"


def _operand(attribute: Attribute, fold: Fold) -> str:
    return f"{fold}({name(attribute.name)})" if fold else name(attribute.name)


def name(dotted: str) -> str:
    """An attribute's name as a filter writes it, with backticks where a part needs them."""
    return ".".join(_part(part) for part in dotted.split("."))


def _part(part: str) -> str:
    if _PLAIN_NAME.fullmatch(part) and part.upper() not in _WORDS:
        return part
    return "`" + part.replace("`", "``") + "`"


def literal(attribute: Attribute, value: Constant) -> str:
    """A constant as a filter writes it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return quoted(value)
    if attribute.type == "timestamp":
        assert isinstance(value, int)
        text = format_time(value)
        if attribute.clock == "day" and text.endswith(_MIDNIGHT):
            return f"DATE '{text.removesuffix(_MIDNIGHT)}'"
        return f"TIMESTAMP '{text}'"
    if attribute.scale and isinstance(value, int | Decimal):
        return decimal_text(decimal_of(value, attribute.scale))
    return format(value, "f") if isinstance(value, Decimal) else repr(value)


def quoted(text: str) -> str:
    """A string constant, escaped as Spark reads it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("\0", "\\u0000") + "'"

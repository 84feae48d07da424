"""Random schemas, filters and publications, drawn so that they meet at the edges.

A filter is drawn as a *template*: pieces of text with slots for constants. Filling a template again
gives a filter of the same form with other constants. Constants and the values of publications come
from the same short lists, so that a value often is a bound, or its neighbour.

Everything is drawn from a `random.Random` that Hypothesis seeds, so that the tests that compare
with Spark draw from the same lists with seeds of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from math import inf, nan, nextafter
from random import Random
from typing import Any, Literal

import pyarrow as pa
from hypothesis import strategies as st

from wherecast.model import Attribute, PublicationError, Schema
from wherecast.model.decimals import UNITS_MAX, decimal_of
from wherecast.model.times import DAY_MICROS, EPOCH
from wherecast.model.values import INT_MAX, INT_MIN

RANDOMS = st.randoms(use_true_random=True)  # shrinkable draws reach far fewer cases

INTS = [0, 1, 2, 3, 5, -1, -4, 2**53, 2**53 + 1, -(2**53) - 1, INT_MAX, INT_MAX - 1, INT_MIN]
UNITS = [0, 1, 2, 3, 5, -1, -4, 150, 1234, -25_000, 10**15, 10**18 - 1, 1 - 10**18]
FLOATS = [
    0.0, 0.1, 0.3, 0.1 + 0.2, 1.0, 1.5, -2.5, 5.0, 2.0**53, 1e300, 5e-324, 1.7976931348623157e308,
]  # fmt: skip
STRINGS = [
    "", "a", "A", "ab", "aB", "abc", "b", "ba", " a", "a%b", "a_b", "a\\b", "it's", 'say "x"',
    "é", "É", "ž", "日本", "😀", "\uffff", "a\nb", "a\0", "a\0b",
]  # fmt: skip
CASED = ["ß", "İ", "ı", "ΑΣ", "ας", "ǅ", "ŉ", "ﬁ"]  # what lower and upper do to these is intricate
TIMES = [
    0,
    1,
    -1,
    10**15 * 2,
    1_777_638_600_000_000,
    1_777_638_600_500_000,
    -62_135_596_800_000_000,
]
NAMES = ["a", "b", "c", "no2", "n.x", "n.y.z", "order", "Žar", "x-y"]

# texts of constants that are no plain number: the same text for every reader
INT_TEXTS = ["2.5", "-0.5", "0.0", "3.0", "1.50", "007", "-0"]
INT_DOUBLES = ["1e0", "25e-1", "3E+0", "1e-400", "-1e-400", "9007199254740993e0", "1e19"]
INT_WIDE = [
    "9223372036854775808", "-9223372036854775809", "99999999999999999999", "1" + "0" * 40,
    "2.00000000000000000000000000000000000000001", "-1.00000000000000000000000000001",
]  # fmt: skip
FLOAT_TEXTS = [
    "0", "-0", "-0.0", ".5", "5.", "1e0", "15e-1", "-25E-1", "1e+300", "1e-400", "-1e-400",
    "9007199254740993", "0.1000000000000000055511151231257827",
]  # fmt: skip
BAD = {
    "int": ["1e999", "'5'", "TRUE"],
    "float": ["1e999", "1e400", "'x'", "NaN"],
    "string": ["5", "TRUE", "1.5"],
    "bool": ["1", "'true'"],
    "timestamp": [
        "'2026-02-30'",
        "'yesterday'",
        "'2026-05-01T24:00:00'",
        "5",
        "'2026-05-01T00:60'",
    ],
}
_PIECES_MAX = 60  # so that the normal form stays within its limit
BAD_PATTERNS = ["a\\b", "\\", "ab\\", "\\a%"]


@dataclass(frozen=True)
class Grammar:
    """What drawn filters and publications may hold; by default everything that is accepted."""

    geo: bool = True
    int_doubles: bool = True  # numbers with an exponent beside ints
    wide_numbers: bool = True  # beside ints, beyond 64 bits or 38 digits
    cased: bool = True  # letters whose other case is intricate
    nul: bool = True
    pairs: bool = True  # two attributes compared
    bad: bool = False  # constants that are refused
    columns: bool = True  # the further types of columns: decimals, dates, times without a zone
    spellings: bool = True  # our own names of functions besides Spark's
    names: tuple[str, ...] = tuple(NAMES)


EVERYTHING = Grammar()
Role = Literal["value", "pattern", "banged", "text", "degrees", "metres"]


@dataclass(frozen=True)
class Slot:
    """The place of a constant: the attribute beside it and what the constant is used for."""

    attribute: Attribute
    role: Role = "value"


@dataclass(frozen=True)
class Constant:
    """A constant: its text in a filter, and its value where another reader needs it."""

    text: str
    value: Any = None


Piece = str | Slot | tuple[str, str]  # a pair: what a filter says, and what DuckDB says
Template = tuple[Piece, ...]


# ---- schemas


def make_schema(rng: Random, grammar: Grammar = EVERYTHING, domains: bool = False) -> Schema:
    """A schema of a few attributes; with `domains` some of them declare one."""
    names = rng.sample(grammar.names, rng.randint(2, 5))
    return Schema(tuple(_attribute(rng, name, domains, grammar) for name in names))


def _attribute(rng: Random, name: str, domains: bool, grammar: Grammar) -> Attribute:
    kind = rng.choice(["int", "float", "string", "int", "float", "bool", "timestamp"])
    if kind == "int" and grammar.columns and rng.random() < 0.4:
        return _decimal(rng, name, domains)
    if kind == "timestamp" and grammar.columns:
        return Attribute(name, kind, clock=rng.choice(["utc", "local", "day"]))
    if not domains or rng.random() < 0.3:
        return Attribute(name, kind)
    if kind == "string":
        return Attribute(name, kind, values=tuple(rng.sample(STRINGS, rng.randint(1, 5))))
    if kind == "int":
        low, high = rng.choice([(None, None), (0, None), (None, 5), (-4, 5), (1, 1), (0, 20)])
        return Attribute(name, kind, low, high, rng.choice([None, Decimal(1), Decimal(3)]))
    if kind == "float":
        bounds = [(None, None), (0.0, None), (None, 5.0), (-2.5, 5.0), (0.1, 0.3), (0.0, 1e300)]
        low, high = rng.choice(bounds)
        steps = [None, Decimal("0.1"), Decimal("0.25"), Decimal("1"), Decimal("0.3")]
        return Attribute(name, kind, low, high, rng.choice(steps))
    return Attribute(name, kind)


def _decimal(rng: Random, name: str, domains: bool) -> Attribute:
    scale = rng.choice([1, 2, 2, 6, 18])
    if not domains or rng.random() < 0.3:
        return Attribute(name, "int", scale=scale)
    low, high = rng.choice([(None, None), (0, None), (None, 150), (-4, 1234), (1, 1)])
    step = rng.choice([None, Decimal(1), Decimal(3)])
    return Attribute(name, "int", low, high, step, scale=scale)


# ---- publications


def make_row(rng: Random, schema: Schema, grammar: Grammar = EVERYTHING) -> dict[str, Any]:
    """A canonical row: values that sit on constants or beside them, some missing."""
    row: dict[str, Any] = {}
    for attribute in schema:
        if rng.random() < 0.2:
            continue
        value = _value(rng, attribute, grammar)
        if attribute.values is not None and rng.random() < 0.9:
            value = rng.choice(attribute.values)
        given = EPOCH + timedelta(microseconds=value) if attribute.type == "timestamp" else value
        given = decimal_of(value, attribute.scale) if attribute.scale else given
        try:
            row |= schema.read({attribute.name: given})
        except PublicationError:  # outside its domain
            continue
    return row


def typed_column(rows: Sequence[dict[str, Any]], field: pa.Field) -> pa.Array:
    """An attribute of canonical rows as a column of its type."""
    values = [row.get(field.name) for row in rows]
    if pa.types.is_date(field.type):
        values = [None if v is None else v // DAY_MICROS for v in values]
        return pa.array(values, pa.int32()).cast(field.type)
    if pa.types.is_timestamp(field.type):
        return pa.array(values, pa.int64()).cast(field.type)
    if pa.types.is_decimal(field.type):
        values = [None if v is None else decimal_of(v, field.type.scale) for v in values]
    return pa.array(values, field.type)


def _value(rng: Random, attribute: Attribute, grammar: Grammar) -> Any:
    kind = attribute.type
    if attribute.scale:
        return min(UNITS_MAX, max(-UNITS_MAX, rng.choice(UNITS) + rng.choice([0, 0, 1, -1])))
    if kind == "int":
        return min(INT_MAX, max(INT_MIN, rng.choice(INTS) + rng.choice([0, 0, 1, -1])))
    if kind == "float":
        value = rng.choice([*FLOATS, nan, inf, -inf, -0.0, 2.0, 3.0, 4.0])
        return rng.choice([value, value, nextafter(value, inf), nextafter(value, -inf)])
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "timestamp":
        micros = rng.choice(TIMES[:-1]) + rng.choice([0, 0, 1, -1])
        return micros // DAY_MICROS * DAY_MICROS if attribute.clock == "day" else micros
    return rng.choice(_strings(grammar))


def _strings(grammar: Grammar) -> list[str]:
    found = STRINGS + CASED if grammar.cased else STRINGS
    return found if grammar.nul else [text for text in found if "\0" not in text]


# ---- filters


def make_template(rng: Random, schema: Schema, grammar: Grammar = EVERYTHING) -> Template:
    """The form of a filter: predicates joined by AND, OR and NOT, with slots for constants."""
    while True:
        template = _joined(rng, schema, grammar, rng.choice([0, 1, 1, 2, 2, 3]))
        if len(template) <= _PIECES_MAX:
            return template


def make_conjunction(rng: Random, schema: Schema, grammar: Grammar = EVERYTHING) -> Template:
    """The form of a filter of predicates joined by AND: on one attribute, or on many."""
    count = rng.randint(1, 4)
    chosen = [rng.choice(schema.attributes)] * count
    if rng.random() < 0.5:
        chosen = rng.sample(schema.attributes, min(count, len(schema)))
    pieces: Template = ()
    for number, attribute in enumerate(chosen):
        word = rng.choice([" AND ", " AND ", " and ", "\nAND\t"])
        pieces += (*((word,) if number else ()), *_predicate(rng, schema, grammar, attribute))
    return pieces


def _joined(rng: Random, schema: Schema, grammar: Grammar, depth: int) -> Template:
    if depth == 0:
        return _predicate(rng, schema, grammar)
    word = rng.choice([" AND ", " OR ", " and ", "\nOR\t"])
    pieces: Template = ()
    for number in range(rng.choice([1, 2, 2, 3])):
        inner = _joined(rng, schema, grammar, depth - 1)
        inner = ("(", *inner, ")") if depth > 1 or rng.random() < 0.2 else inner
        inner = ("NOT (", *inner, ")") if rng.random() < 0.25 else inner
        pieces += (*((word,) if number else ()), *inner)
    return pieces


def _predicate(
    rng: Random, schema: Schema, grammar: Grammar, chosen: Attribute | None = None
) -> Template:
    attribute = chosen or rng.choice(schema.attributes)
    forms = [_comparison, _comparison, _between, _member, _member, _missing]
    if attribute.type == "string":
        forms += [_like, _like, _part, _folded]
    if attribute.type == "bool":
        forms += [_truth, _truth]
    if grammar.pairs and chosen is None:
        forms.append(_compared)
    if chosen is None:
        forms.append(_fixed)
    if grammar.geo and chosen is None:
        forms.append(_distance)
    return rng.choice(forms)(rng, schema, attribute, grammar)


def name_of(name: str) -> tuple[str, str]:
    """A name as a filter and as DuckDB write it, quoted where a filter needs it."""
    is_plain = name.isascii() and name.replace(".", "").isalnum() and name != "order"
    return name if is_plain else f"`{name}`", f'"{name}"'


def _comparison(rng: Random, _s: Schema, attribute: Attribute, _g: Grammar) -> Template:
    operator = rng.choice(["=", "<>", "<", "<=", ">", ">=", "==", "!="])
    if rng.random() < 0.04:
        return (name_of(attribute.name), f" {operator} NULL")
    if rng.random() < 0.15:
        return (Slot(attribute), f" {operator} ", name_of(attribute.name))
    return (name_of(attribute.name), f" {operator} ", Slot(attribute))


def _between(rng: Random, _s: Schema, attribute: Attribute, _g: Grammar) -> Template:
    word = rng.choice([" BETWEEN ", " BETWEEN ", " NOT BETWEEN "])
    return (name_of(attribute.name), word, Slot(attribute), " AND ", Slot(attribute))


def _member(rng: Random, _s: Schema, attribute: Attribute, _g: Grammar) -> Template:
    slots: list[Piece] = [Slot(attribute)] * rng.randint(1, 4)
    if rng.random() < 0.1:
        slots.insert(rng.randint(0, len(slots)), "NULL")
    pieces: list[Piece] = [name_of(attribute.name), rng.choice([" IN (", " IN (", " NOT IN ("])]
    for number, slot in enumerate(slots):
        pieces += [", ", slot] if number else [slot]
    return (*pieces, ")")


def _missing(rng: Random, _s: Schema, attribute: Attribute, _g: Grammar) -> Template:
    return (name_of(attribute.name), rng.choice([" IS NULL", " IS NOT NULL"]))


def _like(rng: Random, _s: Schema, attribute: Attribute, grammar: Grammar) -> Template:
    word = rng.choice([" LIKE ", " LIKE ", " LIKE ", " ILIKE ", " NOT LIKE ", " NOT ILIKE "])
    name = name_of(attribute.name)
    if rng.random() < 0.15:
        return (name, word, Slot(attribute, "banged"), " ESCAPE '!'")
    return (name, word, Slot(attribute, "pattern"), ("", " ESCAPE '\\'"))


def _part(rng: Random, _s: Schema, attribute: Attribute, grammar: Grammar) -> Template:
    calls = [("startswith", "starts_with"), ("endswith", "ends_with"), ("contains", "contains")]
    if grammar.spellings:
        calls += [("starts_with", "starts_with"), ("ends_with", "ends_with")]
    name, slot = name_of(attribute.name), Slot(attribute, "text")
    return (rng.choice(["", "", "NOT "]), rng.choice(calls), "(", name, ", ", slot, ")")


def _folded(rng: Random, _s: Schema, attribute: Attribute, grammar: Grammar) -> Template:
    call = rng.choice(["lower(", "upper("])
    ends: list[Template] = [
        (rng.choice([" = ", " <> ", " < ", " >= "]), Slot(attribute)),
        (" BETWEEN ", Slot(attribute), " AND ", Slot(attribute)),
        (rng.choice([" IN (", " NOT IN ("]), Slot(attribute), ", ", Slot(attribute), ")"),
        (" LIKE ", Slot(attribute, "pattern"), ("", " ESCAPE '\\'")),
    ]
    return (call, name_of(attribute.name), ")", *rng.choice(ends))


def _truth(rng: Random, _s: Schema, attribute: Attribute, _g: Grammar) -> Template:
    ends = ["", "", " IS TRUE", " IS FALSE", " IS NOT TRUE", " IS NOT FALSE"]
    return (rng.choice(["", "NOT "]), name_of(attribute.name), rng.choice(ends))


def _compared(rng: Random, schema: Schema, attribute: Attribute, _g: Grammar) -> Template:
    numbers = ("int", "float")
    others = [
        other.name
        for other in schema
        if other.type == attribute.type or (other.type in numbers and attribute.type in numbers)
    ]
    name = name_of(attribute.name)
    if rng.random() < 0.1:
        # DuckDB compares all three as one type; Spark, and the standard, compare two by two.
        above, end = (" AND ", f" AND {name[1]} <= "), name_of(rng.choice(others))
        return (("", "("), name, (" BETWEEN ", " >= "), Slot(attribute), above, end, ("", ")"))
    operator = rng.choice([" = ", " <> ", " < ", " <= ", " > ", " >= "])
    return (name, operator, name_of(rng.choice(others)))


def _fixed(rng: Random, _s: Schema, _a: Attribute, _g: Grammar) -> Template:
    return (rng.choice(["TRUE", "FALSE", "NULL"]),)


def _distance(rng: Random, schema: Schema, attribute: Attribute, grammar: Grammar) -> Template:
    places = [a for a in schema if a.kind in ("int", "float")]
    if not places:
        return _comparison(rng, schema, attribute, grammar)
    latitude, longitude = rng.choice(places), rng.choice(places)
    degrees, metres = Slot(latitude, "degrees"), Slot(latitude, "metres")
    call = ("geo_distance(", name_of(latitude.name), ", ", name_of(longitude.name))
    operator = rng.choice([" < ", " <= ", " > ", " = "])
    return (*call, ", ", degrees, ", ", degrees, ")", operator, metres)


# ---- constants


def fill(rng: Random, template: Template, grammar: Grammar = EVERYTHING) -> str:
    """The text of a filter: a template with constants in its slots."""
    return fill_both(rng, template, grammar)[0]


def fill_both(
    rng: Random, template: Template, grammar: Grammar = EVERYTHING
) -> tuple[str, list[str | Constant]]:
    """The text of a filter, and its pieces as DuckDB writes them, constants as they are."""
    text, other = "", []
    for piece in template:
        if isinstance(piece, Slot):
            constant = make_constant(rng, piece, grammar)
            text += constant.text
            other.append(constant)
        elif isinstance(piece, tuple):
            text += piece[0]
            other.append(piece[1])
        else:
            text += piece
            other.append(piece)
    return text, other


def make_constant(rng: Random, slot: Slot, grammar: Grammar) -> Constant:
    """A constant that fits a slot, or with `bad` one that does not."""
    kind = slot.attribute.type
    if slot.role == "degrees":
        return Constant(rng.choice(["0", "45.8", "-15.9", "90", "-90.0"]))
    if slot.role == "metres":
        return Constant(rng.choice(["0", "500", "1e6", "2.5", "20015114", "-1"]))
    if grammar.bad and rng.random() < 0.06:
        return Constant(rng.choice(BAD[kind]))
    if kind == "string":
        return _string(rng, slot.role, grammar)
    if kind == "bool":
        value = rng.random() < 0.5
        return Constant(rng.choice([str(value).upper(), str(value).lower()]), value)
    if kind == "timestamp":
        return _time(rng, slot.attribute)
    return _number(rng, slot.attribute, grammar)


def _number(rng: Random, attribute: Attribute, grammar: Grammar) -> Constant:
    if attribute.type == "int":
        own = INTS if not attribute.scale else UNITS
        texts = [_written(number, attribute) for number in own[:7] * 2 + own]
        texts += INT_TEXTS
        texts += INT_DOUBLES if grammar.int_doubles else []
        texts += INT_WIDE if grammar.wide_numbers else []
    else:
        texts = [repr(number) for number in FLOATS] * 2 + FLOAT_TEXTS
    text = rng.choice(texts)
    return Constant(text, Decimal(text))


def _written(number: int, attribute: Attribute) -> str:
    return format(decimal_of(number, attribute.scale), "f")


def _time(rng: Random, attribute: Attribute) -> Constant:
    micros = rng.choice(TIMES)
    if attribute.clock == "day" and rng.random() < 0.6:
        return _date(rng, micros)
    zone = rng.choice([0, 0, 0, 2, -5])
    local = EPOCH + timedelta(microseconds=micros, hours=max(zone, 0))
    zone = max(zone, 0)  # the least time has no earlier one
    text = local.replace(tzinfo=None).isoformat(rng.choice(["T", " "]))
    text += f"+{zone:02}:00" if zone else rng.choice(["", "Z"])
    if micros % 86_400_000_000 == 0 and rng.random() < 0.5:
        text = text[:10]
        micros = round((local.replace(hour=0) - EPOCH) / timedelta(microseconds=1))
        return Constant(rng.choice(["", "DATE ", "TIMESTAMP "]) + f"'{text}'", micros)
    typed = attribute.clock == "day" or (attribute.clock == "local" and zone)
    words = ["TIMESTAMP "] if typed else ["", "TIMESTAMP "]
    return Constant(rng.choice(words) + f"'{text}'", micros)


def _date(rng: Random, micros: int) -> Constant:
    micros = micros // DAY_MICROS * DAY_MICROS
    text = (EPOCH + timedelta(microseconds=micros)).date().isoformat()
    return Constant(rng.choice(["", "", "DATE "]) + f"'{text}'", micros)


def _string(rng: Random, role: Role, grammar: Grammar) -> Constant:
    if role == "pattern" and grammar.bad and rng.random() < 0.06:
        value = rng.choice(BAD_PATTERNS)
    elif role in ("pattern", "banged"):
        value = _pattern(rng, "\\" if role == "pattern" else "!", grammar)
    else:
        value = rng.choice(_strings(grammar))
    return Constant(quoted(rng, value), value)


def _pattern(rng: Random, escape: str, grammar: Grammar) -> str:
    if rng.random() < 0.3:
        return rng.choice(["", "%", "%%", "_", "a%", "%a", "%a%", "a%b", "_b", "ab", "A%", "%_%"])
    letters = ["a", "b", "A", "é", "😀", "\n", "%", "_", "%", "_"]
    letters += [escape + "%", escape + "_", escape * 2]
    letters += CASED if grammar.cased else []
    return "".join(rng.choice(letters) for _ in range(rng.randint(1, 5)))


def quoted(rng: Random, text: str) -> str:
    """A string constant in one of the ways that Spark reads."""
    style = rng.randint(0, 3)
    escaped = text.replace("\\", "\\\\").replace("\0", "\\0")
    if style == 0:
        return '"' + escaped.replace('"', '\\"').replace("\n", "\\n") + '"'
    if style == 1:
        return "'" + escaped.replace("'", "''") + "'"
    if style == 2:
        kept = escaped.replace("\\\\%", "\\%").replace("\\\\_", "\\_")  # a LIKE escape as it is
        simple = "\\\\\\" not in escaped
        return "'" + (kept if simple else escaped).replace("'", "\\'").replace("é", "\\u00e9") + "'"
    return "'" + escaped.replace("'", "\\'") + "'"


# ---- for Hypothesis


@st.composite
def cases(
    draw: st.DrawFn,
    grammar: Grammar = EVERYTHING,
    domains: bool = False,
    filters: int = 1,
    rows: int = 8,
    conjunctions: bool = False,
) -> tuple[Schema, list[str], list[dict[str, Any]]]:
    """A schema, filter texts on it, and canonical rows."""
    rng = draw(RANDOMS)
    schema = make_schema(rng, grammar, domains)
    make = make_conjunction if conjunctions else make_template
    texts = [fill(rng, make(rng, schema, grammar), grammar) for _ in range(filters)]
    return schema, texts, [make_row(rng, schema, grammar) for _ in range(rows)]


@st.composite
def columns(
    draw: st.DrawFn, grammar: Grammar = EVERYTHING, domains: bool = False
) -> tuple[Schema, list[str]]:
    """A schema and a column of texts: a few forms, each filled several times."""
    rng = draw(RANDOMS)
    schema = make_schema(rng, grammar, domains)
    schema = replace(schema, open=rng.random() < 0.2)
    texts: list[str] = []
    for _ in range(rng.randint(1, 3)):
        make = rng.choice([make_conjunction, make_template])
        template = make(rng, schema, grammar)
        texts += [fill(rng, template, grammar) for _ in range(rng.randint(1, 12))]
    rng.shuffle(texts)
    return schema, texts


def named(schema: Schema, texts: Sequence[str]) -> str:
    """A schema and texts for the message of a failed test."""
    return f"{schema.to_dict()}\n" + "\n".join(map(repr, texts))

"""Covering and overlap: sound on all filters, complete on intervals and value sets."""

from datetime import timedelta
from decimal import Decimal
from itertools import product
from math import inf, nan, nextafter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.strategies import (
    RANDOMS,
    fill,
    make_conjunction,
    make_row,
    make_schema,
    make_template,
)
from tests.seeds import random_of
from wherecast.language import Filter
from wherecast.language.meaning.geo import haversine_metres
from wherecast.model import Attribute, PublicationError, Schema
from wherecast.model.times import EPOCH
from wherecast.model.values import INT_MAX, INT_MIN

Pair = tuple[Schema, str, str, list[dict[str, Any]]]


@st.composite
def pairs(draw: st.DrawFn, domains: bool = False) -> Pair:
    """Two filters that are often related: of one form, or one narrower than the other."""
    rng = draw(RANDOMS)
    schema = make_schema(rng, domains=domains)
    template = rng.choice([make_conjunction, make_conjunction, make_template])(rng, schema)
    outer = fill(rng, template)
    inner = fill(rng, template) if rng.random() < 0.7 else outer
    if rng.random() < 0.3:
        inner = f"({inner}) AND ({fill(rng, make_conjunction(rng, schema))})"
    if rng.random() < 0.3:
        outer = f"({outer}) OR ({fill(rng, make_conjunction(rng, schema))})"
    return schema, outer, inner, [make_row(rng, schema) for _ in range(25)]


def assert_sound(pair: Pair) -> None:
    schema, outer, inner, rows = pair
    wide, narrow = Filter(outer, schema), Filter(inner, schema)
    matched = [(wide.evaluate(row) is True, narrow.evaluate(row) is True, row) for row in rows]
    if wide.covers(narrow):
        for by_wide, by_narrow, row in matched:
            assert by_wide or not by_narrow, (outer, inner, row)
    if not wide.overlaps(narrow):
        for by_wide, by_narrow, row in matched:
            assert not (by_wide and by_narrow), (outer, inner, row)
    assert wide.covers(wide)
    assert wide.overlaps(narrow) == narrow.overlaps(wide)


@settings(max_examples=400)
@given(pairs())
def test_covering_and_overlap_are_sound(pair: Pair) -> None:
    assert_sound(pair)


@settings(max_examples=400)
@given(pairs(domains=True))
def test_covering_and_overlap_are_sound_inside_domains(pair: Pair) -> None:
    assert_sound(pair)


# ---- completeness: every value that could tell two filters apart is tried

ATTRIBUTES = [
    Attribute("i", "int"),
    Attribute("i", "int", 0, 6),
    Attribute("i", "int", 0, 7, Decimal(2)),
    Attribute("i", "int", step=Decimal(3)),
    Attribute("x", "float"),
    Attribute("x", "float", 0.0, 5.0),
    Attribute("x", "float", 0.5, 5.2, Decimal("0.5")),
    Attribute("x", "float", step=Decimal("0.3")),
    Attribute("s", "string"),
    Attribute("s", "string", values=("", "a", "ab", "b")),
    Attribute("t", "timestamp"),
    Attribute("b", "bool"),
]
NUMBERS = ["0", "1", "2", "3", "4", "5", "2.5", "-1", "7"]
TEXTS = ["", "a", "a\0", "a\0\0", "ab", "b"]
CONSTANTS = {
    "int": [*NUMBERS, str(INT_MAX), str(INT_MIN), "9223372036854775808"],
    "float": [*NUMBERS, "0.3", "0.6", "1.7976931348623157e308", "2.4999999999999996"],
    "string": ["'" + text.replace("\0", "\\0") + "'" for text in TEXTS],
    "timestamp": [f"'1970-01-01 00:00:00.00000{n}'" for n in range(6)],
    "bool": ["TRUE", "FALSE"],
}


def values_of(attribute: Attribute) -> list[Any]:
    """The values that can tell apart filters whose constants are those above."""
    numbers = [float(text) for text in CONSTANTS["float"]]
    given: list[Any] = {
        "int": [*range(-4, 14), INT_MAX - 1, INT_MAX, INT_MIN, INT_MIN + 1, 10**6, -(10**6)],
        "float": [
            *numbers,
            *(nextafter(number, way) for number in numbers for way in (inf, -inf)),
            *(step * 0.1 for step in range(-20, 100)),
            *(inf, -inf, nan, 1e9, -1e9),
        ],
        "string": [*TEXTS, *(text + tail for text in TEXTS for tail in ("\0", "\0\0\0", "z"))],
        "timestamp": [EPOCH + timedelta(microseconds=n) for n in (*range(-2, 8), 10**9)],
        "bool": [False, True],
    }[attribute.type]
    schema = Schema((attribute,))
    rows = []
    for value in given:
        try:
            rows.append(schema.read({attribute.name: value}))
        except PublicationError:
            continue
    return [{}, *rows]


def make_plain(rng: Random, attribute: Attribute) -> str:
    """A conjunction of intervals and value sets on one attribute."""

    def constant() -> str:
        return rng.choice(CONSTANTS[attribute.type])

    def predicate() -> str:
        form = rng.choice(["compare", "compare", "between", "in", "not in", "present"])
        if form == "compare":
            return f"{rng.choice(['=', '<>', '<', '<=', '>', '>='])} {constant()}"
        if form == "between":
            return f"BETWEEN {constant()} AND {constant()}"
        if form == "present":
            return "IS NOT NULL"
        listed = ", ".join(constant() for _ in range(rng.randint(1, 4)))
        return f"{form.upper()} ({listed})"

    return " AND ".join(f"{attribute.name} {predicate()}" for _ in range(rng.randint(1, 3)))


def assert_complete(attribute: Attribute, outer: str, inner: str) -> None:
    schema = Schema((attribute,))
    wide, narrow = Filter(outer, schema), Filter(inner, schema)
    found = [(wide.evaluate(r) is True, narrow.evaluate(r) is True) for r in values_of(attribute)]
    shown = (attribute, outer, inner)
    assert wide.covers(narrow) == all(by_wide for by_wide, by_narrow in found if by_narrow), shown
    assert wide.overlaps(narrow) == any(by_wide and by_narrow for by_wide, by_narrow in found)
    assert bool(wide.warnings) == (not any(by_wide for by_wide, _ in found)), shown


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda a: f"{a.type} {a.min} {a.step}")
def test_intervals_and_value_sets_are_decided(attribute: Attribute) -> None:
    rng = random_of(attribute)
    for _ in range(250):
        assert_complete(attribute, make_plain(rng, attribute), make_plain(rng, attribute))


@settings(max_examples=100)
@given(RANDOMS)
def test_conjunctions_over_several_attributes_are_decided(rng: Random) -> None:
    chosen = [rng.choice([a for a in ATTRIBUTES if a.name == name]) for name in "isb"]
    schema = Schema(tuple(chosen))

    def conjunction() -> str:
        named = rng.sample(chosen, rng.randint(1, 3))
        return " AND ".join(make_plain(rng, attribute) for attribute in named)

    wide, narrow = Filter(conjunction(), schema), Filter(conjunction(), schema)
    parts = [values_of(attribute) for attribute in chosen]
    parts = [part if len(part) < 12 else rng.sample(part, 12) for part in parts]
    rows = [{**a, **b, **c} for a, b, c in product(*parts)]
    both = [(wide.evaluate(row) is True, narrow.evaluate(row) is True) for row in rows]
    if wide.covers(narrow):
        assert all(by_wide for by_wide, by_narrow in both if by_narrow), (wide, narrow)
    if not wide.overlaps(narrow):
        assert not any(by_wide and by_narrow for by_wide, by_narrow in both), (wide, narrow)


@settings(max_examples=150)
@given(RANDOMS)
def test_planted_coverings_are_found(rng: Random) -> None:
    """A conjunction with wider intervals, larger sets or fewer attributes covers."""
    schema = Schema((Attribute("i", "int"), Attribute("x", "float"), Attribute("s", "string")))
    low, width = rng.randint(-50, 50), rng.randint(0, 20)
    point, reach = rng.uniform(-50, 50), rng.uniform(0, 20)
    words = rng.sample(["a", "b", "c", "d", "e", "f"], rng.randint(1, 4))

    def text(more: int, fewer: bool) -> str:
        ends = f"i BETWEEN {low - rng.randint(0, more)} AND {low + width + rng.randint(0, more)}"
        reals = f"x >= {point - rng.random() * more!r} AND x < {point + reach + more!r}"
        listed = words + rng.sample(["g", "h", "i"], min(more, 3))
        parts = [ends, reals, f"s IN ({', '.join(map(repr, listed))})"]
        return " AND ".join(rng.sample(parts, rng.randint(1, 3)) if fewer else parts)

    narrow = Filter(text(0, fewer=False), schema)
    wide = Filter(text(rng.randint(0, 9), fewer=True), schema)
    assert wide.covers(narrow), (wide, narrow)
    assert wide.overlaps(narrow)
    more = Filter(f"{wide} OR i = 999", schema)
    assert more.covers(narrow)
    assert more.covers(wide)


# ---- strings and circles: every pair of predicates, on every value that could tell them apart


def _string_predicates() -> list[str]:
    texts = ["a", "b", "ab", "ba", "aa"]
    calls = ["startswith(s, '{}')", "endswith(s, '{}')", "contains(s, '{}')", "s = '{}'"]
    return [call.format(text) for call in calls for text in texts]


def test_pairs_of_string_predicates_are_decided() -> None:
    """Prefixes, suffixes, parts and equality cover each other exactly where they should."""
    schema = Schema((Attribute("s", "string"),))
    words = ["".join(letters) for size in range(5) for letters in product("abc", repeat=size)]
    filters = [Filter(text, schema) for text in _string_predicates()]
    found = [{word for word in words if f.evaluate({"s": word}) is True} for f in filters]
    for outer, wide in zip(filters, found, strict=True):
        for inner, narrow in zip(filters, found, strict=True):
            assert outer.covers(inner) == (narrow <= wide), (outer, inner)
            assert outer.overlaps(inner) or not wide & narrow, (outer, inner)
            both = Filter(f"{outer} AND {inner}", schema)
            assert outer.covers(both)
            assert not both.covers(outer) or wide <= narrow, (both, outer)


def test_pairs_of_circles_are_sound() -> None:
    schema = Schema((Attribute("lat", "float"), Attribute("lon", "float")))
    rows = [{"lat": 45.8, "lon": lon} for lon in (15.9, 16.0, 16.1, nan)]
    metres = [haversine_metres(row["lat"], row["lon"], (45.8, 15.9)) for row in rows[:3]]
    filters = [
        Filter(f"geo_distance(lat, lon, 45.8, 15.9) {operator} {reach!r}", schema)
        for operator in ("<", "<=", ">", ">=", "=", "<>")
        for reach in metres
    ]
    covered = 0
    for outer, inner in product(filters, filters):
        if outer.covers(inner):
            covered += 1
            for row in rows:
                assert outer.evaluate(row) or not inner.evaluate(row), (outer, inner, row)
    assert covered >= 48

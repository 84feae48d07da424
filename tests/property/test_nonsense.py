"""Any text is a filter or gets a FilterError that names a place in it; nothing else happens."""

import logging
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.strategies import RANDOMS, fill, make_schema, make_template
from tests.property.test_reading import assert_both_ways_agree
from wherecast.language import Filter
from wherecast.model import FilterError, Schema

SCRAPS = [
    "AND", "OR", "NOT", "(", ")", "((", "IN (", "IS", "NULL", "BETWEEN", "LIKE", "ESCAPE '!'",
    "=", "<=>", "==", "!", "-", "--", "/*", "*/", "+", "+ 1", "%", "||", "&&", "::int", ".",
    ",", ";", "'", '"', "`", "\\", "'a' 'b'", "r'a'", "X'41'", "1e5", "1e999", "-0", ".5.",
    "0x1F", "1_0",
    "5L", "5D", "5F", "1.5BD", "TRUE", "CASE WHEN", "END", "SELECT 1", "EXISTS", "INTERVAL '1' DAY",
    "DATE", "TIMESTAMP", "DATE '2026-01-01'", "CAST(a AS INT)", "lower(", "contains(a", "a.b.c",
    "geo_distance(a, b, 1, 2)", "[", "]", "[a,=,1]", "{{", "}}", "?", ":x", "@x", "$x", "#", "~",
    "\0", "\x1f", "\n", "\t", "\xa0", "\u2028", "＞", "ﬀ", "😀", "\ufeff", "a", "no2", "b", "x",
]  # fmt: skip


def broken(rng: Random, text: str) -> str:
    """A text with a few pieces put in, left out, doubled or moved."""
    pieces = text.split(" ")
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(pieces) + 1)
        change = rng.choice(["scrap", "scrap", "drop", "double", "swap", "cut"])
        if change == "scrap":
            pieces.insert(place, rng.choice(SCRAPS))
        elif place < len(pieces):
            piece = pieces[place]
            other = rng.randrange(len(pieces))
            if change == "drop":
                del pieces[place]
            elif change == "double":
                pieces.insert(place, piece)
            elif change == "swap":
                pieces[place], pieces[other] = pieces[other], piece
            else:
                pieces[place] = piece[: rng.randrange(len(piece) + 1)]
        pieces = pieces or [""]
    return rng.choice([" ", " ", ""]).join(pieces)


@st.composite
def nonsense(draw: st.DrawFn) -> tuple[Schema, list[str]]:
    rng = draw(RANDOMS)
    schema = make_schema(rng)
    template = make_template(rng, schema)
    return schema, [broken(rng, fill(rng, template)) for _ in range(12)]


@settings(max_examples=150)
@given(nonsense())
def test_a_broken_text_is_a_filter_or_a_filter_error(case: tuple[Schema, list[str]]) -> None:
    schema, texts = case
    for text in texts:
        try:
            filter = Filter(text, schema)
        except FilterError as error:
            problem = error
        else:
            assert Filter(str(filter), schema).normal == filter.normal, text
            continue
        assert len(problem.message) < 300, text
        assert problem.position is None or 0 <= problem.position <= len(text), text


@settings(max_examples=75)
@given(nonsense())
def test_a_column_of_broken_texts_is_read_alike(case: tuple[Schema, list[str]]) -> None:
    schema, texts = case
    assert_both_ways_agree(schema, texts * 2)


@settings(max_examples=200)
@given(st.text(max_size=30) | st.text("+-*/%=<>!(),.'\"[]`\\ax15 \n", max_size=12))
def test_any_text_at_all(text: str) -> None:
    schema = Schema.from_dict({"a": "int"}, open=True)
    for given_text in (text, f"a = {text}", f"[{text}]", f"[a,{text}]", f"a LIKE '{text}'"):
        try:
            Filter(given_text, schema)
        except FilterError:
            continue


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    schema = Schema.from_dict({"a": "int"})
    with caplog.at_level(logging.DEBUG):
        for scrap in SCRAPS:
            for text in (scrap, f"a = {scrap}", f"{scrap} a = 1", f"a = 1 AND {scrap}"):
                try:
                    Filter(text, schema)
                except FilterError:
                    continue
    assert caplog.records == []

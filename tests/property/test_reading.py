"""Reading a column of filters by shape gives what reading each filter alone gives."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings

from tests.property.strategies import (
    EVERYTHING,
    RANDOMS,
    columns,
    fill,
    make_conjunction,
    make_schema,
    make_template,
)
from tests.seeds import random_of
from wherecast.language import Filter, PredicateTable, read_filters
from wherecast.language.bulk import read_column
from wherecast.language.bulk.deferred_reader import DeferredReader
from wherecast.language.bulk.plain_reader import PlainFilter, PlainReader
from wherecast.language.meaning.constraint import Constraint
from wherecast.language.meaning.index_plan import plan
from wherecast.language.meaning.keys import RANGES
from wherecast.language.meaning.normal_form import Conjunction, form_of
from wherecast.model import Attribute, FilterError, Schema
from wherecast.workloads import rules

BAD_TOO = replace(EVERYTHING, bad=True)
PLAIN = Schema(
    (
        Attribute("a", "int"),
        Attribute("x", "float"),
        Attribute("s", "string"),
        Attribute("t", "timestamp"),
    )
)


def read_alone(texts: list[str], schema: Schema) -> PredicateTable:
    """The table of a column whose filters were all read one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_column, "_ALONE_MAX", 10**9)
        return read_filters(texts, schema)


def outcome(text: str, schema: Schema) -> tuple[tuple[Conjunction, ...], str | None]:
    """What is indexed of one filter, or the text of its error, without the picture of its place."""
    try:
        return form_of(plan(Filter(text, schema).expression).conjunctions).conjunctions, None
    except FilterError as error:
        return (), error.line


def assert_both_ways_agree(schema: Schema, texts: list[str]) -> None:
    table = read_filters(texts, schema)
    rejected = {row: error.line for row, error in table.rejected}
    for row, text in enumerate(texts):
        assert (table.conjunctions(row), rejected.get(row)) == outcome(text, schema), text
    assert_tables_agree(schema, texts)


def assert_tables_agree(schema: Schema, texts: list[str]) -> None:
    """Compares the tables of all ways of reading a column."""
    table, single = read_filters(texts, schema), read_alone(texts, schema)
    assert table.checksum() == single.checksum()
    assert [(row, str(error)) for row, error in table.rejected] == [
        (row, str(error)) for row, error in single.rejected
    ]
    with pytest.MonkeyPatch.context() as patch:  # as if there were many shapes
        patch.setattr(read_column, "_SHAPES_FEW", 0)
        assert read_filters(texts, schema).checksum() == table.checksum()


@settings(max_examples=150)
@given(columns(BAD_TOO))
def test_a_column_is_read_as_its_filters_are(column: tuple[Schema, list[str]]) -> None:
    assert_both_ways_agree(*column)


@settings(max_examples=75)
@given(columns(BAD_TOO, domains=True))
def test_domains_and_steps_change_nothing(column: tuple[Schema, list[str]]) -> None:
    assert_both_ways_agree(*column)


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param([f"a >= {v}" for v in ("0.0", "1e-400", "1.5", "2.0")], id="underflow"),
        pytest.param([f"a > {v} AND a < {v + 1}" for v in range(4)], id="contradictions"),
        pytest.param([f"a IN ({v}, 2, 3)" for v in range(5)], id="a value twice"),
        pytest.param([f"a <> {v} AND a < 3" for v in range(5)], id="excluded outside"),
        pytest.param([f"s LIKE '{v}'" for v in ("a%", "%a", "%a%", "a", "_")], id="patterns"),
        pytest.param([f"s > '{v}' AND s <= 'b'" for v in "abc"], id="strings that conflict"),
        pytest.param([f"s LIKE '{v}%' AND s LIKE 'a%'" for v in "abc"], id="a pattern twice"),
        pytest.param([r"s = '\ud800'", "s = 'a'", "s = 'b'"], id="half a character"),
        pytest.param([f"t > '2026-0{v}-30'" for v in (1, 2, 3, 4)], id="an impossible day"),
        pytest.param([f"t = DATE '2026-05-0{v}'" for v in ("1", "2", "3 12:00")], id="dates"),
        pytest.param([f"x > {v}L" for v in range(4)], id="numbers with a suffix"),
        pytest.param(["x > 12345678901234567890L", *["x > 1.5L"] * 3], id="a suffix that refuses"),
        pytest.param([f"x > {v} -- 5" for v in range(4)], id="a comment"),
        pytest.param([f"x > /* 'a' */ {v}" for v in range(4)], id="a comment inside"),
        pytest.param([f"s = 'it''s {v}'" for v in range(4)], id="doubled quotes"),
        pytest.param([f"s = 'a' '{v}'" for v in range(4)], id="strings side by side"),
        pytest.param([f"s = r'\\{v}'" for v in "abcd"], id="raw strings"),
        pytest.param([f"s = '\\u004{v}'" for v in range(4)], id="escapes"),
        pytest.param([f"x > {v}" for v in ("5.", ".5", "5.e3", "1e5", "1.5E+3")], id="forms"),
        pytest.param([f"x > 1.{v}and a = 1" for v in range(4)], id="a number that runs on"),
        pytest.param([f"x > {v}e" for v in (1, 2, 1.5)], id="half an exponent"),
        pytest.param([f"x > {v}.5BD" for v in ("1", "5e-3")], id="letters that trip the parser"),
        pytest.param([f"x > {v}e0{v}e0" for v in range(4)], id="two exponents"),
        pytest.param([f"x > {v}_000" for v in range(4)], id="underscores"),
        pytest.param([f"x > {'9' * v}" for v in (17, 18, 19, 20, 308, 400)], id="digits"),
        pytest.param([f"a > {'9' * v}" for v in (17, 18, 19, 20, 308, 500)], id="digits of ints"),
        pytest.param([f"s = '{'x' * v}'" for v in (1, 4096, 4097, 70_000)], id="long texts"),
        pytest.param(["FALSE AND a < x AND s = 'a'", "a < x AND"], id="a pair that is not kept"),
        pytest.param([f"[a,=,{v}]" for v in range(4)], id="triples"),
        pytest.param([f"\xa0[a,=,{v}]" for v in range(4)], id="triples after a wide space"),
        pytest.param([f"s = 'a\x1f{v}'" for v in range(4)], id="the mark of the cut"),
        pytest.param(["a > 1", "", "a >", "a > 2", "b > 2"], id="nothing and nonsense"),
        pytest.param(["s = '\ud800'", "s = 'a'", "s = 'b'"], id="no text that Arrow can hold"),
    ],
)
def test_known_traps(texts: list[str]) -> None:
    assert_both_ways_agree(PLAIN, [*texts, *texts, *texts])


def test_a_thousand_filters_of_many_shapes() -> None:
    rng = random_of("reading")
    schema = make_schema(rng)
    templates = [make_template(rng, schema) for _ in range(40)]
    texts = [fill(rng, rng.choice(templates)) for _ in range(1000)]
    assert_both_ways_agree(schema, texts)


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(
            [f"x * {v} > {v}" for v in (1, 2, 1.5, "1e0", "1.0", "01", "10.")], id="times"
        ),
        pytest.param([f"x > 1 + {v}" for v in (0, 1, 2)], id="computed constants"),
        pytest.param([f"x IN (1 + {v}, 2)" for v in (0, 1, 2)], id="a computed constant in a list"),
        pytest.param([f"{v} IN (2, x) OR a = {v}" for v in (1, 2, 3)], id="a constant used twice"),
        pytest.param([f"s = concat('a', '{v}')" for v in "abc"], id="computed strings"),
        pytest.param([f"concat(s, '{v}') = 'ab'" for v in "abb"], id="strings in formulas"),
        pytest.param([f"({v} = 2 OR a > {v}) AND x < 5" for v in (1, 2)], id="computed verdicts"),
        pytest.param([f"(x > {v}) = (a > 3)" for v in range(3)], id="conditions in a formula"),
        pytest.param([f"(s LIKE '{v}%') IS NULL" for v in "abc"], id="a pattern in a formula"),
        pytest.param([f"CASE WHEN a > {v} THEN 1 ELSE x END > 0" for v in range(3)], id="cases"),
        pytest.param([f"x / {v} > 1 AND a = {v}" for v in range(3)], id="division by nothing"),
        pytest.param([f"x + {'9' * v} > 1" for v in (18, 19, 39, 400)], id="digits in formulas"),
    ],
)
def test_constants_of_formulas(texts: list[str]) -> None:
    assert_tables_agree(PLAIN, [*texts, *texts, *texts])


@pytest.mark.parametrize("is_deep", [False, True])
def test_rules_are_read_as_single_filters_are(is_deep: bool) -> None:
    """The first shapes of rules, with formulas, programs and patterns, five filters of each."""
    workload = rules(deep=is_deep)
    count, shapes = 5, 60
    batches = list(workload.filters(len(workload.shapes) * count))
    given = [text for batch in batches for text in batch.column("filter").to_pylist()]
    texts = [text for n in range(count) for text in given[n * len(workload.shapes) :][:shapes]]
    texts += [text.replace(" * 2 - ", " * 3 - ") for text in texts if " * 2 - " in text]
    assert_tables_agree(workload.schema, texts)
    assert (
        read_deferred(texts, workload.schema).checksum()
        == read_filters(texts, workload.schema).checksum()
    )


def read_deferred(texts: list[str], schema: Schema) -> PredicateTable:
    """The table of filters that were accepted one by one."""
    reader = DeferredReader(schema)
    return reader.read_accepted([reader.accept(text) for text in texts])


def test_a_filter_is_refused_for_its_frozen_constants_also_where_its_shape_is_known() -> None:
    reader = DeferredReader(PLAIN)
    texts = [f"x + {v} > {v}" for v in (1.5, 1.5, 2.5, 1.5)]
    table = reader.read_accepted([reader.accept(text) for text in texts])
    assert table.checksum() == read_alone(texts, PLAIN).checksum()
    with pytest.raises(FilterError, match="more than 38 digits"):
        reader.accept(f"x + 1.{'5' * 39} > 1.5")


def said(plain: PlainFilter) -> tuple[Conjunction, ...]:
    """The conjunction that a plain filter is, as the parser gives it."""
    constraints, strings = [], iter(plain.strings)
    for place, attribute in enumerate(plain.form.attributes):
        low, high = plain.ends[2 * place : 2 * place + 2]
        excluded = plain.form.excepts[place]
        if attribute.type == "string" or excluded:
            key = next(strings) if attribute.type == "string" else low
            field = "excluded" if excluded else "values"
            constraints.append(Constraint(attribute, **{field: (key,)}))
        else:
            least, most = RANGES[attribute.type]
            ends = (None if low == least else low), (None if high == most else high)
            constraints.append(Constraint(attribute, low=ends[0], high=ends[1]))
    constraints.sort(key=lambda c: (c.attribute.name, c.attribute.type))
    return (Conjunction(tuple(constraints), ()),)


def assert_plain_ones_agree(schema: Schema, texts: list[str]) -> int:
    """Compares what is read without a parser with what the parser gives; returns how many."""
    reader, count = PlainReader(schema), 0
    for text in texts:
        plain = reader.read(text)
        if plain is not None:
            assert (said(plain), None) == outcome(text, schema), text
            count += 1
    return count


@settings(max_examples=150)
@given(RANDOMS)
def test_plain_filters_are_read_as_the_parser_does(rng: Random) -> None:
    schema = replace(make_schema(rng, domains=rng.random() < 0.5), open=rng.random() < 0.3)
    templates = [rng.choice([make_conjunction, make_template])(rng, schema) for _ in range(4)]
    texts = [fill(rng, rng.choice(templates), BAD_TOO) for _ in range(40)]
    assert_plain_ones_agree(schema, [text for text in texts for _ in range(2)])


@pytest.mark.parametrize("ends", ["", " ", ")", ",", ";", "L", "e", "x", "--", "/*", "'", "`", "."])
@pytest.mark.parametrize("start", ["", " ", "(", "-", "- ", "+", "x", ".", "'", '"', "r", "--"])
def test_what_stands_around_a_constant(start: str, ends: str) -> None:
    texts = [f"x > {start}{v}{ends}" for v in ("1", "2.5", "'a'", "3", "7", "'2'", "1e3", ".5")]
    assert_plain_ones_agree(PLAIN, texts * 2)
    assert_plain_ones_agree(PLAIN, [f"{text} AND s = 'a'" for text in texts * 2])


def test_most_comparisons_are_plain() -> None:
    rng = Random(3)
    texts = [f"a >= {rng.randint(0, 9)} AND x < {rng.random()} AND s = 'v{n}'" for n in range(500)]
    assert assert_plain_ones_agree(PLAIN, texts) == 499

"""The normal form of a filter, and the text that it prints, mean what the filter means."""

from typing import Any

from hypothesis import given, settings

from tests.property.meaning import constraint_holds, holds, value_in
from tests.property.strategies import cases
from wherecast.language import Filter
from wherecast.language.meaning.bind import Binder
from wherecast.language.meaning.constraint import allows
from wherecast.language.meaning.evaluate import evaluate
from wherecast.language.meaning.expression import And, Expression, Not, Or
from wherecast.language.meaning.keys import key_of
from wherecast.language.meaning.normal_form import Conjunction
from wherecast.language.text.parser import parse
from wherecast.model import DEFAULT_LIMITS, Schema

Case = tuple[Schema, list[str], list[dict[str, Any]]]


def assert_the_normal_form_means_the_same(case: Case) -> None:
    schema, texts, rows = case
    for text in texts:
        filter = Filter(text, schema)
        for row in rows:
            is_true = filter.evaluate(row) is True
            if filter.normal.is_exact:
                assert holds(filter.normal, row) == is_true, (text, row)
            else:
                assert holds(filter.normal, row) or not is_true, (text, row)
            for conjunction in filter.normal.conjunctions:
                assert_keys_say_the_same(conjunction, row)


def assert_keys_say_the_same(conjunction: Conjunction, row: dict[str, Any]) -> None:
    """What indexes do: a value is turned into its key, and the key is compared."""
    for constraint in conjunction.constraints:
        value = value_in(constraint.attribute, row)
        if value is not None:
            key = value if isinstance(value, str) else key_of(constraint.attribute.type, value)
            assert allows(constraint, key) == constraint_holds(constraint, row)


def flat(part: Expression) -> Expression:
    """An expression without ANDs in ANDs and ORs in ORs."""
    if isinstance(part, Not):
        return Not(flat(part.part))
    if not isinstance(part, And | Or):
        return part
    inner = [flat(piece) for piece in part.parts]
    merged = [q for p in inner for q in (p.parts if isinstance(p, type(part)) else (p,))]
    return type(part)(tuple(merged))


@settings(max_examples=300)
@given(cases(filters=4, rows=12))
def test_normalisation_keeps_the_meaning(case: Case) -> None:
    assert_the_normal_form_means_the_same(case)


@settings(max_examples=150)
@given(cases(filters=4, rows=12, conjunctions=True))
def test_intersecting_keeps_the_meaning(case: Case) -> None:
    assert_the_normal_form_means_the_same(case)


@settings(max_examples=150)
@given(cases(filters=4, rows=12, domains=True))
def test_normalisation_keeps_the_meaning_inside_domains(case: Case) -> None:
    assert_the_normal_form_means_the_same(case)


@settings(max_examples=200)
@given(cases(filters=4, rows=12))
def test_a_filter_that_prints_and_is_read_back_means_the_same(case: Case) -> None:
    schema, texts, rows = case
    for text in texts:
        filter = Filter(text, schema)
        again = Filter(str(filter), schema)
        assert flat(again.expression) == flat(filter.expression)
        for row in rows:
            assert again.evaluate(row) is filter.evaluate(row), (text, str(filter), row)


@settings(max_examples=150)
@given(cases(filters=4, rows=12, domains=True))
def test_a_warning_that_it_never_matches_is_true(case: Case) -> None:
    schema, texts, rows = case
    for text in texts:
        filter = Filter(text, schema)
        if filter.warnings:
            assert not any(filter.evaluate(row) is True for row in rows), text


@given(cases(rows=12))
def test_not_turns_true_and_false_and_leaves_unknown(case: Case) -> None:
    schema, (text,), rows = case
    plain = Binder(schema, DEFAULT_LIMITS).bind(parse(text, DEFAULT_LIMITS))
    turned = Binder(schema, DEFAULT_LIMITS).bind(parse(f"NOT ({text})", DEFAULT_LIMITS))
    for row in rows:
        expected = {True: False, False: True, None: None}[evaluate(plain, row)]
        assert evaluate(turned, row) is expected, (text, row)

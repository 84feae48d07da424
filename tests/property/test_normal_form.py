"""The normal form of a filter, and the text that it prints, mean what the filter means."""

from typing import Any

from hypothesis import given, settings

from tests.property.meaning import holds
from tests.property.strategies import cases
from wherecast.language import Filter
from wherecast.language.bind import Binder
from wherecast.language.evaluate import evaluate
from wherecast.language.parse import parse
from wherecast.model import DEFAULT_LIMITS, Schema

Case = tuple[Schema, list[str], list[dict[str, Any]]]


def assert_the_normal_form_means_the_same(case: Case) -> None:
    schema, texts, rows = case
    for text in texts:
        filter = Filter(text, schema)
        for row in rows:
            assert holds(filter.normal, row) == (filter.evaluate(row) is True), (text, row)


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
        assert str(again) == str(filter)
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

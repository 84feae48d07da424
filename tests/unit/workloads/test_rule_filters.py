"""Rules: 5,000 random trees with arithmetic, and the matches they must give."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.unit.workloads.oracle import check, count_with_duckdb, publications, texts
from wherecast.workloads import rules

CONSTANT = re.compile(r"'[^']*'|(?<=[<>=DN] )-?\d+\.\d+")
ATTRIBUTE = re.compile(r"\b[fs]\d+\b")


@pytest.fixture(scope="module")
def workload():
    return rules()


@pytest.fixture(scope="module")
def deep():
    return rules(deep=True)


@pytest.fixture(scope="module")
def drawn(workload):
    return texts(workload, 20_000)


def shape(text):
    return CONSTANT.sub("?", text)


def test_matches_per_publication(workload):
    check(workload, count_with_duckdb(workload, 5_000, 1_000))


@pytest.mark.release  # a tenth of the filters is in make test
def test_matches_of_deep_rules_per_publication(deep):
    check(deep, count_with_duckdb(deep, 5_000, 500))


def test_some_deep_rules_match_as_often_as_stated(deep):
    some = replace(deep, shapes=deep.shapes[:500])
    stated = np.mean([shape.true for shape in some.shapes])
    counted = count_with_duckdb(some, 500, 300).per_publication / 500
    assert counted == pytest.approx(stated, rel=0.05)


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_missing_values_fails_the_count(workload):
    drifted = replace(workload, missing=0.2)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(drifted, count_with_duckdb(drifted, 5_000, 500))


def test_the_stated_number_is_about_the_studied_one(workload, deep):
    """The study counted 76 at 10,000 filters of one seed."""
    assert workload.matches_per_publication(10_000) == pytest.approx(77.6, abs=0.1)
    assert deep.matches_per_publication(10_000) == pytest.approx(4_293, abs=1)


def test_there_are_exactly_5000_shapes_and_filters_take_turns(drawn):
    shapes = [shape(text) for text in drawn]
    assert len(set(shapes[:5_000])) == 5_000
    assert shapes[:5_000] == shapes[5_000:10_000] == shapes[15_000:]


PARTS = (
    " < ", " <= ", " > ", " >= ", " = '", " <> '", " BETWEEN ", " IN (", " LIKE 'v", " LIKE '%",
    " + ", " - ", " * f", " * 2 - ", "> -", " AND ", " OR ", "NOT (", " IS NULL", " IS NOT NULL",
)  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_there(drawn, part):
    assert sum(part in text for text in drawn) > 100


def test_sizes_of_rules(workload, drawn):
    sizes = [len(each.leaves) for each in workload.shapes]
    assert np.mean(sizes) == pytest.approx(8.7, abs=0.3)
    assert max(sizes) < 30
    assert np.mean([len(text) for text in drawn]) == pytest.approx(180, rel=0.05)


def test_an_attribute_occurs_once_in_a_rule_and_again_in_a_deep_one(drawn, deep):
    for text in drawn[:5_000]:
        named = ATTRIBUTE.findall(text)
        assert len(named) == len(set(named))
    again = [ATTRIBUTE.findall(each.text) for each in deep.shapes]
    assert sum(len(named) > len(set(named)) for named in again) > 4_000


def test_most_rules_have_a_selective_predicate(workload):
    first = [each for each in workload.shapes if each.leaves[0].true < 0.05]
    assert len(first) / 5_000 == pytest.approx(0.9, abs=0.02)
    either = [each for each in first if each.joined == "OR"]
    assert len(either) / 5_000 == pytest.approx(0.2, abs=0.02)


def nesting(text):
    """The greatest number of open parentheses that are not lists."""
    bare = re.sub(r"IN \([^)]*\)", "", text)
    signs = np.array([(sign == "(") - (sign == ")") for sign in bare])
    return int(np.cumsum(signs).max())


def test_sizes_of_deep_rules(deep):
    sizes = [len(each.leaves) for each in deep.shapes]
    assert np.mean(sizes) == pytest.approx(35, rel=0.1)
    assert max(sizes) <= 60
    assert max(nesting(each.text) for each in deep.shapes) <= 8
    assert np.mean([nesting(each.text) for each in deep.shapes]) > 3


def test_values(workload):
    table = publications(workload, 20_000)
    for column in table.columns:
        assert column.null_count / 20_000 == pytest.approx(0.1, abs=0.02)
    numbers = table["f0"].drop_null().to_numpy()
    assert (np.round(numbers, 2) == numbers).all()
    assert 0 <= numbers.min() < numbers.max() < 100
    assert set(table["s0"].drop_null().to_pylist()) == {f"v{n}" for n in range(100)}


def test_constants_are_drawn_for_each_filter(drawn):
    changed = sum(a != b for a, b in zip(drawn[:5_000], drawn[5_000:10_000], strict=True))
    assert changed > 4_900

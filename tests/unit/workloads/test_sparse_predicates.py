"""Sparse filters: few of many attributes, and the matches they must give."""

import re

import numpy as np
import pytest

from tests.unit.workloads.oracle import check, conjunction, count_conjunctions, publications, texts
from wherecast.workloads import sparse, sparse_predicates

SAMPLE = (20_000, 10_000)


@pytest.fixture(scope="module")
def workload():
    return sparse()


@pytest.fixture(scope="module")
def drawn(workload):
    return texts(workload, 20_000)


@pytest.mark.parametrize("seed", [1, pytest.param(5, marks=pytest.mark.release)])
def test_matches_per_publication(seed):
    check(sparse(seed), count_conjunctions(sparse(seed), *SAMPLE))


def test_the_attributes_of_the_study_give_its_number():
    """The study counted 51.5 with 1,000,000 filters and 10,000 publications of its seed 5."""
    rng = np.random.default_rng(5)
    kinds = np.array(["f"] * 60 + ["s"] * 40)
    rng.shuffle(kinds)
    cardinalities = np.exp(rng.uniform(np.log(5), np.log(5_000), 100)).astype(int)
    rate = sparse_predicates._rate(kinds == "f", cardinalities)
    expected = rate.probability * 1_000_000
    assert expected == pytest.approx(51.5, rel=rate.tolerance(1_000_000, 10_000))
    assert expected == pytest.approx(51.5, rel=0.04)


def test_stated_numbers():
    stated = [sparse(seed).matches_per_publication(1_000_000) for seed in (1, 2, 4, 6)]
    assert stated == pytest.approx([116.9, 71.9, 20.1, 85.7], abs=0.1)


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_widths_fails_the_count(monkeypatch, workload):
    monkeypatch.setattr(sparse_predicates, "_WIDTH_MAX", 0.45)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(workload, count_conjunctions(workload, *SAMPLE))


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_popularity_fails_the_count(monkeypatch, workload):
    monkeypatch.setattr(sparse_predicates, "_WEIGHTS", 1 / np.arange(1, 101) ** 1.3)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(workload, count_conjunctions(workload, *SAMPLE))


def test_there_are_60_floats_and_40_strings_in_another_order_per_seed(workload):
    kinds = [attribute.type for attribute in workload.schema]
    assert workload.schema.names == tuple(f"x{number}" for number in range(100))
    assert (kinds.count("float"), kinds.count("string")) == (60, 40)
    assert kinds != [attribute.type for attribute in sparse(2).schema]


def test_filters_have_three_to_eight_predicates_on_different_attributes(workload, drawn):
    number = r"\d\.\d+(e-\d+)?"
    form = re.compile(rf"(x\d+) (BETWEEN {number} AND {number}|= 'v\d+')( AND |$)")
    counts = []
    for text in drawn:
        named = [found[0] for found in form.findall(text)]
        assert form.sub("", text) == ""
        numbers = [int(name[1:]) for name in named]
        assert numbers == sorted(set(numbers))
        counts.append(len(named))
    assert np.bincount(counts)[3:].tolist() == pytest.approx([20_000 / 6] * 6, rel=0.1)


def test_ranges_are_5_to_40_percent_wide_and_strings_are_of_their_number(workload, drawn):
    widths, lows = [], []
    for text in drawn[:5_000]:
        for name, operator, [constant] in conjunction(text):
            if operator == "=":
                most = workload.cardinalities[int(name[1:])]
                assert 0 <= int(constant[2:-1]) < most <= 5_000
            elif operator == ">=":
                lows.append(float(constant))
            else:
                widths.append(float(constant) - lows[-1])
                assert float(constant) <= 1
    assert min(widths) == pytest.approx(0.05, abs=0.001)
    assert max(widths) == pytest.approx(0.4, abs=0.001)
    assert np.mean(widths) == pytest.approx(0.225, abs=0.005)
    assert np.corrcoef(widths, np.array(lows) / (1 - np.array(widths)))[0, 1] == pytest.approx(
        0, abs=0.03
    )


def test_a_publication_carries_15_attributes_the_popular_ones_most_often(workload):
    table = publications(workload, 10_000)
    carried = np.array([column.is_valid().to_numpy() for column in table.columns])
    assert (carried.sum(axis=0) == 15).all()
    shares = carried.mean(axis=1)
    assert shares == pytest.approx(sparse_predicates._carried(), abs=0.03)
    for number, column in enumerate(table.columns):
        values = column.drop_null().to_pylist()
        if workload.is_float[number]:
            assert 0 <= min(values) < max(values) < 1
        else:
            codes = {int(value[1:]) for value in values}
            assert max(codes) < workload.cardinalities[number]

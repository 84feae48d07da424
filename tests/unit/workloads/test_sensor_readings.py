"""Sensors: one predicate per filter, one reading per publication."""

import re

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.workloads.oracle import (
    check,
    count_single_predicates,
    publications,
    single_predicates,
    texts,
)
from wherecast.workloads import sensor_readings, sensors


def test_matches_per_publication():
    check(sensors(), count_single_predicates(sensors(), 10_000, 10_000))


def test_the_stated_number_is_the_studied_one():
    assert round(sensors().matches_per_publication(10_000)) == 143


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_operators_fails_the_count(monkeypatch):
    drifted = [" < ", " <= ", " > ", " >= ", " = ", " = "]
    monkeypatch.setattr(sensor_readings, "OPERATORS", pa.array(drifted))
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(sensors(), count_single_predicates(sensors(), 10_000, 10_000))


def test_sensors_and_operators_are_equally_likely():
    names, operators, _ = single_predicates(texts(sensors(), 20_000))
    sizes = np.unique(names, return_counts=True)[1]
    assert sizes == pytest.approx(np.full(35, 20_000 / 35), rel=0.15)
    signs, sizes = np.unique(operators, return_counts=True)
    assert set(signs) == {"<", "<=", ">", ">=", "=", "<>"}
    assert sizes == pytest.approx(np.full(6, 20_000 / 6), rel=0.1)


def test_constants_have_at_most_two_digits_and_no_negative_zero():
    for text in texts(sensors(), 20_000):
        assert re.search(r" -?\d+\.\d{1,2}$", text)
        assert not text.endswith(" -0.0")


def test_a_publication_carries_one_reading():
    table = publications(sensors(), 5_000)
    assert table.column_names == [f"s{sensor}" for sensor in range(35)]
    carried = np.sum([column.is_valid().to_numpy() for column in table.columns], axis=0)
    assert (carried == 1).all()


def test_equalities_are_met():
    counted = count_single_predicates(sensors(), 10_000, 10_000)
    operators = single_predicates(texts(sensors(), 10_000))[1]
    assert counted.by_filter[operators == "="].sum() > 0

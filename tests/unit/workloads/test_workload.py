"""Every workload: reproducible, the same at every size, of its schema, never held as a whole."""

from functools import cache
from itertools import islice

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.workloads.oracle import publications, texts
from wherecast.columns import arrow_schema
from wherecast.model import ConfigError
from wherecast.workloads import (
    WORKLOADS,
    MatchRate,
    alerts,
    alerts_or,
    bluedove,
    geofence,
    mixed,
    rules,
    sensors,
    sparse,
    srem,
    stocks,
    tags,
)

TYPES = {
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def sensor_files(seed=1):
    return sensors(seed, files=True)


def skewed(seed=1):
    return bluedove(seed, length=40, sd=1000, dimensions=2, skewed=1)


def hot(seed=1):
    return srem(seed, hot_sd=50)


def alerts_or_wide(seed=1):
    return alerts_or(seed, wide=True)


def zipf_tags(seed=1):
    return tags(seed, zipf=1.0)


EVERY = [
    bluedove,
    skewed,
    alerts,
    geofence,
    sparse,
    stocks,
    sensors,
    sensor_files,
    mixed,
    srem,
    hot,
    alerts_or,
    alerts_or_wide,
    tags,
    zipf_tags,
    rules,
]


@pytest.fixture(params=EVERY, ids=lambda make: make.__name__)
def make(request):
    return request.param


@cache
def made(make, seed=1):
    """A workload, made once for all tests."""
    return make(seed=seed)


def test_the_same_seed_gives_the_same_rows(make):
    one, other = make(seed=7), make(seed=7)
    assert texts(one, 3_000) == texts(other, 3_000)
    assert publications(one, 3_000).equals(publications(other, 3_000))
    assert one.matches_per_publication() == other.matches_per_publication()


def test_another_seed_gives_other_rows(make):
    one, other = make(seed=7), make(seed=8)
    assert texts(one, 100) != texts(other, 100)
    assert not publications(one, 100).equals(publications(other, 100))


def test_the_first_rows_are_the_same_at_every_size(make):
    workload = made(make)
    assert texts(workload, 12_345) == texts(workload, 21_000)[:12_345]
    assert publications(workload, 12_345).equals(publications(workload, 21_000).slice(0, 12_345))


def test_chunks_differ_from_each_other(make):
    workload = made(make)
    drawn = texts(workload, 20_000)
    assert drawn[:10_000] != drawn[10_000:]
    first, second = islice(workload.publications(10**9), 2)
    assert not first.equals(second)


def test_a_huge_number_of_rows_begins_at_once(make):
    workload = made(make)
    assert next(workload.filters(10**12)).num_rows <= 10_000
    assert next(workload.publications(10**12)).num_rows <= 10_000


def test_as_many_rows_as_asked_for_with_ids_from_0_on(make):
    workload = made(make)
    for n in (0, 1, 10_000, 10_001):
        batches = list(workload.filters(n))
        assert all(batch.num_rows for batch in batches)
        ids = [id for batch in batches for id in batch["id"].to_pylist()]
        assert ids == list(range(n))
        assert sum(batch.num_rows for batch in workload.publications(n)) == n


def test_batches_have_the_columns_of_the_schema(make):
    workload = made(make)
    [filters] = workload.filters(1)
    assert filters.schema == pa.schema([("id", pa.int64()), ("filter", pa.string())])
    [batch] = workload.publications(1)
    assert batch.schema == arrow_schema(workload.schema) == workload.columns
    for attribute in workload.schema:
        if attribute.type in TYPES:
            assert batch.schema.field(attribute.name).type == TYPES[attribute.type]


def test_publications_are_valid(make):
    workload = made(make)
    for row in publications(workload, 200).to_pylist():
        workload.schema.read(row)


def test_missing_attributes_are_null_and_never_nan(make):
    for column in publications(made(make), 10_000).columns:
        if pa.types.is_floating(column.type):
            assert not np.isnan(column.drop_null().to_numpy()).any()


def test_expected_matches_grow_with_the_filters(make):
    workload = made(make)
    assert workload.matches_per_publication(80_000) == 2 * workload.matches_per_publication()
    assert workload.tolerance == workload.rate.tolerance(40_000, 10_000)


def test_workloads_are_found_by_name():
    names = ["bluedove", "alerts", "geofence", "sparse", "stocks", "sensors", "mixed", "srem"]
    names += ["alerts_or", "tags", "rules"]
    assert list(WORKLOADS) == names
    for name, found in WORKLOADS.items():
        workload = found(seed=3)
        assert (workload.name, workload.seed) == (name, 3)


def test_a_larger_sample_has_a_smaller_tolerance():
    rate = MatchRate(probability=0.01, filter_spread=1.0, publication_spread=2.0)
    assert rate.tolerance(100, 400) == pytest.approx(3 * (0.01 + 0.01 + 0.0025) ** 0.5)
    assert rate.tolerance(10_000, 40_000) < rate.tolerance(100, 400) / 9


def test_a_negative_seed_is_refused(make):
    with pytest.raises(ConfigError, match="seed must be 0 or more, not -1"):
        make(seed=-1)

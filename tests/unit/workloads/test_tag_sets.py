"""Tags: three kinds of filters on arrays of five tags, and the matches they must give."""

from collections import Counter

import numpy as np
import pytest

from tests.unit.workloads.oracle import (
    check,
    count_tags,
    count_with_duckdb,
    publications,
    tag_filter,
    texts,
)
from wherecast.model import ConfigError
from wherecast.workloads import tag_sets, tags

SAMPLES = {
    "uniform": ({}, 60_000, 2_000),
    "zipf": ({"zipf": 1.0}, 20_000, 2_000),
    "few tags": ({"tags": 8}, 2_000, 2_000),
    "few tags, zipf": ({"tags": 12, "zipf": 3.0}, 2_000, 2_000),
}


@pytest.mark.parametrize(("options", "filters", "sent"), SAMPLES.values(), ids=SAMPLES)
def test_matches_per_publication(options, filters, sent):
    workload = tags(**options)
    counted = count_tags(workload, filters, sent)
    expected = workload.matches_per_publication(filters)
    tolerance = workload.rate.tolerance(filters, sent)
    assert counted.per_publication == pytest.approx(expected, rel=tolerance)
    if workload.shares.size > 100:  # of few tags, filters for all of several count in the spread
        check(workload, counted)


def test_duckdb_counts_the_same():
    workload = tags(tags=20)
    counted, other = count_tags(workload, 1_000, 300), count_with_duckdb(workload, 1_000, 300)
    assert (counted.by_filter == other.by_filter).all()
    assert (counted.by_publication == other.by_publication).all()


def test_the_stated_numbers_are_the_studied_ones():
    """The study counted 584, 5,817 and 12,566 with a million filters of one seed."""
    stated = [
        workload.matches_per_publication(1_000_000)
        for workload in (tags(), tags(tags=1_000), tags(zipf=1.0))
    ]
    assert stated == pytest.approx([583.1, 5_811.7, 12_287.9], rel=1e-4)
    assert stated == pytest.approx([584, 5_817, 12_566], rel=0.03)


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_number_of_tags_fails_the_count(monkeypatch):
    drifted = tags()
    monkeypatch.setattr(tag_sets, "CARRIED", 4)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(drifted, count_tags(drifted, 60_000, 2_000))


def test_a_third_of_each_kind_with_different_tags():
    found = [tag_filter(text) for text in texts(tags(tags=5), 20_000)]
    kinds = Counter((kind, len(named)) for kind, named in found)
    expected = {("one", 1): 1 / 3} | {
        (kind, size): 1 / 6 for kind in ("any", "all") for size in (2, 3)
    }
    assert kinds.keys() == expected.keys()
    for kind, share in expected.items():
        assert kinds[kind] / 20_000 == pytest.approx(share, rel=0.1)
    assert all(len(set(named)) == len(named) for _, named in found)


def test_a_publication_has_five_tags_and_some_have_one_twice():
    carried = publications(tags(tags=50), 2_000)["tags"].to_pylist()
    assert {len(one) for one in carried} == {5}
    assert any(len(set(one)) < 5 for one in carried)


def test_popularity_is_the_same_in_filters_and_publications():
    workload = tags(tags=100, zipf=2.0)
    drawn = [named[0] for _, named in map(tag_filter, texts(workload, 20_000))]
    sent = np.concatenate(publications(workload, 20_000)["tags"].to_numpy())
    names = workload.names.to_pylist()
    favourites = [names[place] for place in np.argsort(-workload.shares)[:3]]
    for given in (drawn, sent.tolist()):
        assert [name for name, _ in Counter(given).most_common(3)] == favourites
    assert favourites != names[:3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tags": 2}, "tags must be 3 or more, not 2"),
        ({"zipf": -0.5}, "zipf must be from 0 to 3, not -0.5"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        tags(**options)

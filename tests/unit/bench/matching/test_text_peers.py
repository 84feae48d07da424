"""Peers that read texts: they count what DuckDB counts with the texts as WHERE clauses."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.workloads.oracle import count_tags, count_with_duckdb
from wherecast.bench.case import batch_of, filters_of
from wherecast.bench.matching.engines import split_either
from wherecast.bench.matching.peers import numbered, pairs_of
from wherecast.bench.matching.text_peers import TEXT_PEERS, TextForm, rule_shapes, tag_rows
from wherecast.workloads import Workload, alerts_or, rules, tags

CASES: dict[str, tuple[TextForm, Callable[[], Workload], int]] = {
    "cities": ("either", partial(alerts_or, cities=4), 600),
    "wide": ("either", partial(alerts_or, wide=True), 300),
    "tags": ("tags", partial(tags, tags=20), 600),
    "rules": ("rules", rules, 600),
}


def texts_of(workload: Workload, count: int) -> pa.ChunkedArray:
    return filters_of(workload, count).column("filter")


ENGINES = [(case, engine) for case in CASES for engine in TEXT_PEERS[CASES[case][0]]]


@pytest.mark.parametrize(("case", "engine"), ENGINES)
def test_pairs(case: str, engine: str) -> None:
    pytest.importorskip(engine)
    form, make, filters = CASES[case]
    workload = make()
    peer = TEXT_PEERS[form][engine](texts_of(workload, filters))
    for sent in (1, 200):  # a peer is used again
        found = pairs_of(peer.match(numbered(batch_of(workload, sent))))
        count = count_tags if form == "tags" else count_with_duckdb
        expected = count(workload, filters, sent)
        assert (np.bincount(found[1], minlength=filters) == expected.by_filter).all()
        assert (np.bincount(found[0], minlength=sent) == expected.by_publication).all()
    assert len(found[0]) > 100


def test_deep_rules_by_shape() -> None:
    workload = rules(deep=True)
    peer = TEXT_PEERS["rules"]["duckdb"](texts_of(workload, 60))
    found = pairs_of(peer.match(numbered(batch_of(workload, 100))))
    expected = count_with_duckdb(workload, 60, 100)
    assert (np.bincount(found[1], minlength=60) == expected.by_filter).all()


def test_a_shape_is_one_table() -> None:
    shapes = rule_shapes(texts_of(rules(), 10_000))
    assert len(shapes) == 5_000
    assert {rows.num_rows for rows in shapes.values()} == {2}
    one = pa.chunked_array([["NOT (f1 * 2 - f2 > -3.5) OR s1 IN ('a', 'b', 'c')"]])
    [(condition, rows)] = rule_shapes(one).items()
    assert condition == "NOT (p.f1 * 2 - p.f2 > f.c0) OR p.s1 IN (f.c1, f.c2, f.c3)"
    assert rows.to_pylist() == [{"number": 0, "c0": -3.5, "c1": "a", "c2": "b", "c3": "c"}]


def test_rows_of_tags() -> None:
    two = ["arrays_overlap(tags, array('a', 'b'))", "array_contains(tags, 'a')"]
    both = "array_contains(tags, 'a') AND array_contains(tags, 'c')"
    rows = tag_rows(pa.chunked_array([[*two, both]])).to_pylist()
    found = [(row["number"], row["tag"], row["wanted"]) for row in rows]
    assert found == [(0, "a", 1), (0, "b", 1), (1, "a", 1), (2, "a", 2), (2, "c", 2)]


def test_conjunctions_of_an_or() -> None:
    texts = ["city = 'c' AND (no2 > 1.5 OR pm10 > 2.5)", "no2 > 3.5 OR pm10 > 4.5"]
    assert split_either(pa.chunked_array([texts])).to_pylist() == [
        "city = 'c' AND no2 > 1.5", "no2 > 3.5", "city = 'c' AND pm10 > 2.5", "pm10 > 4.5",
    ]  # fmt: skip

"""What matching and nodes cost, in figures that are the same on every machine."""

import pytest

from tests.unit.matching.columnar.agree import publications_of
from wherecast import Index
from wherecast.workloads import WORKLOADS, Workload, bluedove

PUBLICATIONS = 500

# beside each what was measured, with seed 1: candidates per publication, bytes of tree and store
BOUNDS = {
    "bluedove": (20_000, 2_900, 400),  # 2,511.0 and 343
    "stocks": (10_000, 640, 670),  # 554.1 and 577
    "sensors": (10_000, 214, 240),  # 185.8 and 207
}


def index_of(workload: Workload, count: int) -> Index:
    index = Index(workload.schema, "betree")
    for batch in workload.filters(count):
        index.add_all(batch)
    return index


def test_a_publication_is_tried_on_few_of_the_filters() -> None:
    workload, filters = bluedove(seed=1, length=40), 20_000
    index = index_of(workload, filters)
    index.match(publications_of(workload, PUBLICATIONS))
    stats = index.stats()
    assert stats["publications_matched"] == PUBLICATIONS
    assert stats["filters_checked"] / PUBLICATIONS <= 0.05 * filters
    assert stats["filters_checked"] / PUBLICATIONS <= 240, "201.3 were measured"


@pytest.mark.parametrize("name", BOUNDS)
def test_candidates_and_bytes(name: str) -> None:
    filters, candidates, size = BOUNDS[name]
    workload = WORKLOADS[name](seed=1)
    index = index_of(workload, filters)
    index.match(publications_of(workload, PUBLICATIONS))
    stats = index.stats()
    assert stats["per_publication"]["candidates"] <= candidates
    assert (stats["tree_bytes"] + stats["store_bytes"]) / filters <= size

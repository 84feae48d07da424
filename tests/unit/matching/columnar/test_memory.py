"""What matching allocates: arrays, and nothing per publication."""

import sys
import tracemalloc
from typing import Any

import pyarrow as pa
import pytest

from tests.unit.matching.columnar.agree import columnar, publications_of, workload_index
from wherecast import Index, Schema
from wherecast.workloads import WORKLOADS

pytestmark = pytest.mark.usefixtures("trees")

NAMES = ("bluedove", "alerts", "geofence", "sparse", "stocks", "sensors")
FIXED_BYTES_MAX = 1_000_000  # of a match, whatever it matches
SIDE_BYTES_MAX = 19  # per publication and attribute: a cell, a key, a code, a sign of presence
CALLS_MORE_MAX = 120  # of a larger batch: it is taken in chunks of 4,096
ATTRIBUTE_BYTES_MAX = 4_096  # per attribute that a single filter names
LONE_BYTES_MAX = 20_000  # of the result of one publication with a hundred matches


def test_attributes_that_few_filters_name_take_little_memory() -> None:
    """While the trees are built, and after."""
    count = 300
    schema = Schema.from_dict({f"x{place}": "int" for place in range(count)})
    index = columnar(schema, [f"x{place} > 5" for place in range(count)])
    index.stats()
    tracemalloc.start()
    index.match([{"x5": 6}])
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert held <= FIXED_BYTES_MAX + count * ATTRIBUTE_BYTES_MAX
    assert peak <= FIXED_BYTES_MAX + 2 * count * ATTRIBUTE_BYTES_MAX


def calls_of(index: Index, batch: pa.RecordBatch) -> int:
    """The functions that are called while a batch is matched."""
    calls = 0

    def count(_frame: Any, event: str, _given: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    index.match(batch)
    sys.setprofile(None)
    return calls


def memory_of(index: Index, batch: pa.RecordBatch) -> tuple[int, int, int]:
    """Bytes at the peak of a match, and bytes and objects that its result holds."""
    tracemalloc.start()
    matches = index.match(batch)
    held, peak = tracemalloc.get_traced_memory()
    objects = len(tracemalloc.take_snapshot().traces)
    tracemalloc.stop()
    assert len(matches) == batch.num_rows
    return peak, held, objects


@pytest.mark.parametrize("name", NAMES)
def test_matching_makes_nothing_per_publication(name: str) -> None:
    """The same calls and as many objects for 1,000 as for 20,000; what grows are arrays."""
    workload = WORKLOADS[name](seed=1)
    index = workload_index(workload, 1_000)
    few, many = publications_of(workload, 1_000), publications_of(workload, 20_000)
    matches = index.match(many)
    index.match(few)

    assert calls_of(index, many) <= calls_of(index, few) + CALLS_MORE_MAX
    (_, _, objects_few), (peak, _, objects_many) = memory_of(index, few), memory_of(index, many)
    assert objects_many <= objects_few + CALLS_MORE_MAX
    sides = many.num_rows * len(workload.schema) * SIDE_BYTES_MAX
    result = matches.offsets.nbytes + 3 * matches.indices.nbytes  # a full buffer is copied
    assert peak <= FIXED_BYTES_MAX + sides + result


def test_a_result_holds_its_matches_and_no_buffer() -> None:
    index = columnar(Schema.from_dict({"a": "int"}), ["a = 1"] * 100)
    batch = pa.record_batch({"a": [1]})
    index.match(batch)
    _, held, _ = memory_of(index, batch)
    assert held <= LONE_BYTES_MAX


@pytest.mark.parametrize("name", ["bluedove", "sparse"])
def test_what_is_held_of_a_result_stays_as_it_is(name: str) -> None:
    """Memory is used again only when nobody holds any part of a result."""
    workload = WORKLOADS[name](seed=1)
    index = workload_index(workload, 5_000)
    batch = publications_of(workload, 2_000)
    held, copies = [], []
    for start in range(0, 2_000, 100):
        found = index.match(batch.slice(start, 1_000)).indices
        held.append(found[5:-5])
        copies.append(found[5:-5].copy())
        del found

    assert all((one == other).all() for one, other in zip(held, copies, strict=True))


def test_memory_of_results_that_are_gone_is_used_again() -> None:
    workload = WORKLOADS["stocks"](seed=1)
    index = workload_index(workload, 5_000)
    batch = publications_of(workload, 2_000)
    places = set()
    for _ in range(6):
        found = index.match(batch).indices
        places.add(found.ctypes.data)
        del found

    assert len(places) <= 3

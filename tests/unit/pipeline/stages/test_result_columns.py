"""Publications joined with the filters they match, in every shape."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest

from wherecast import Schema
from wherecast.pipeline.filters.loaded_filters import compile_filters
from wherecast.pipeline.stages import inline_runner
from wherecast.pipeline.stages.batch_task import JoinTask
from wherecast.pipeline.stages.result_columns import JoinPlan, ResultLimits

SCHEMA = Schema.from_dict({"n": {"type": "int", "min": 0}})
BATCH = pa.RecordBatch.from_pylist(
    [
        {"n": 1, "tags": ["x"]},
        {"n": 2, "tags": []},
        {"n": -1, "tags": None},
        {"n": 3, "tags": ["y"]},
    ]
)
FILTERS = pa.table(
    {"id": ["b", "a", "c"], "filter": ["n > 1", "n > 2", "n > 9"], "mail": ["b@x", None, "c@x"]}
)


@dataclass(frozen=True)
class Joined:
    """Gives the rows of a plan, whose batches have limits."""

    limits: ResultLimits

    def __call__(
        self, plan: JoinPlan, added: Iterable[str], enforced: bool = True
    ) -> list[tuple[Any, ...]]:
        filters, _ = compile_filters(
            FILTERS, SCHEMA if enforced else SCHEMA.without_domains(), enforced
        )
        task = JoinTask(filters, replace(plan, limits=self.limits), ("n", "tags", *added))
        batches = list(inline_runner.run(task, [BATCH]))
        for batch in batches:
            assert batch.schema.names == ["n", "tags", *added]
            assert list(batch.schema)[:2] == list(BATCH.schema)
            assert batch.num_rows <= self.limits.rows_max
        return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("rows_max", [1, 2, 65_536])
class TestRows:
    @pytest.fixture
    def result(self, rows_max: int) -> Joined:
        return Joined(ResultLimits(rows_max, matches_max=rows_max))

    def test_inner(self, result: Joined) -> None:
        assert result(JoinPlan(kept=("mail",)), ["filter_id", "mail"]) == [
            (2, [], "b", "b@x"),
            (3, ["y"], "a", None),
            (3, ["y"], "b", "b@x"),
        ]

    def test_left_with_the_refused(self, result: Joined) -> None:
        plan = JoinPlan("left", errors=True)
        assert result(plan, ["filter_id", "error"]) == [
            (1, ["x"], None, None),
            (2, [], "b", None),
            (-1, None, None, "attribute n: -1 is below its minimum 0"),
            (3, ["y"], "a", None),
            (3, ["y"], "b", None),
        ]

    def test_left_of_a_schema_that_refuses_nothing(self, result: Joined) -> None:
        rows = result(JoinPlan("left"), ["filter_id"], enforced=False)
        assert [row[0] for row in rows] == [1, 2, -1, 3, 3]

    def test_arrays(self, result: Joined) -> None:
        plan = JoinPlan("left", "arrays", kept=("mail",), errors=True)
        rows = result(plan, ["filter_ids", "mail", "error"])
        assert [row[2:4] for row in rows] == [
            ([], []),
            (["b"], ["b@x"]),
            ([], []),
            (["a", "b"], [None, "b@x"]),
        ]
        assert result(JoinPlan("inner", "arrays"), ["filter_ids"]) == [
            (2, [], ["b"]),
            (3, ["y"], ["a", "b"]),
        ]

    @pytest.mark.parametrize("output", ["rows", "arrays"])
    def test_semi_and_anti(self, result: Joined, output: Any) -> None:
        assert result(JoinPlan("semi", output, ids=False), []) == [(2, []), (3, ["y"])]
        assert result(JoinPlan("anti", output, ids=False), []) == [(1, ["x"]), (-1, None)]

    def test_refused_ones_show_their_errors(self, result: Joined) -> None:
        plan = JoinPlan("semi", "arrays", ids=False, errors=True)
        told = "attribute n: -1 is below its minimum 0"
        expected = [(2, [], None), (-1, None, told), (3, ["y"], None)]
        assert result(plan, ["error"]) == expected

    def test_structs_of_all_added_columns(self, result: Joined) -> None:
        plan = JoinPlan("inner", "structs", kept=("mail",))
        found = [{"filter_id": "a", "mail": None}, {"filter_id": "b", "mail": "b@x"}]
        assert result(plan, ["found"]) == [(2, [], found[1:]), (3, ["y"], found)]

    def test_flags(self, result: Joined) -> None:
        rows = result(JoinPlan("left", "flags", ids=False), ["matched"])
        assert [row[2] for row in rows] == [False, True, False, True]


def test_wide_rows_come_in_small_pieces() -> None:
    filters, _ = compile_filters(FILTERS, SCHEMA, enforced=True)
    plan = JoinPlan(limits=ResultLimits(bytes_max=10))
    task = JoinTask(filters, plan, ("n", "tags", "filter_id"))

    assert [batch.num_rows for batch in task(BATCH)] == [1, 1, 1]


def test_without_the_columns_of_the_publications() -> None:
    filters, _ = compile_filters(FILTERS, SCHEMA, enforced=True)
    task = JoinTask(filters, JoinPlan("left", "arrays"), ("filter_ids",), carried=False)

    found = pa.Table.from_batches(task(BATCH)).to_pydict()

    assert found == {"filter_ids": [[], ["b"], [], ["a", "b"]]}


def test_an_empty_batch_gives_nothing() -> None:
    filters, _ = compile_filters(FILTERS, SCHEMA)
    task = JoinTask(filters, JoinPlan("left"), ("n", "tags", "filter_id"))

    assert list(inline_runner.run(task, [BATCH.slice(0, 0)])) == []

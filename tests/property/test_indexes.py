"""Every kind of index gives what the reference index gives, on anything that can be drawn."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.strategies import (
    RANDOMS,
    fill,
    make_conjunction,
    make_row,
    make_schema,
    make_template,
    typed_column,
)
from tests.ways import take
from wherecast import Index, Schema
from wherecast.columns import arrow_schema
from wherecast.matching.columnar.packing import entries, planner
from wherecast.matching.kinds import KINDS

Case = tuple[Schema, list[str], list[dict[str, Any]]]


@st.composite
def cases(draw: st.DrawFn, domains: bool = False) -> Case:
    rng = draw(RANDOMS)
    schema = make_schema(rng, domains=domains)
    templates = [rng.choice([make_conjunction, make_template])(rng, schema) for _ in range(12)]
    texts = [fill(rng, rng.choice(templates)) for _ in range(60)]
    return schema, texts, [inside(make_row(rng, schema), schema) for _ in range(30)]


def inside(row: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """A row without values whose nearest step lies beyond the greatest value."""
    beyond = [a.name for a in schema if a.max is not None and row.get(a.name, a.max) > a.max]
    return {name: value for name, value in row.items() if name not in beyond}


def table_of(schema: Schema, rows: list[dict[str, Any]]) -> pa.Table:
    fields = arrow_schema(schema)
    return pa.table([typed_column(rows, field) for field in fields], schema=fields)


def assert_same(case: Case, kind: str) -> None:
    schema, texts, rows = case
    table = table_of(schema, rows)
    reference, index = Index(schema, kind="scan"), Index(schema, kind=kind)
    for each in (reference, index):
        each.add_all(enumerate(texts))
    found = zip(index.match(table).to_pylist(), reference.match(table).to_pylist(), strict=True)
    for row, (got, wanted) in zip(rows, found, strict=True):
        wrong = [texts[number] for number in set(got) ^ set(wanted)]  # type: ignore[index]
        assert not wrong, (wrong, row)
        assert got == wanted, (row, "a filter more than once")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "scan"])
@settings(max_examples=30)
@given(case=cases())
def test_it_agrees_with_the_reference(kind: str, case: Case) -> None:
    assert_same(case, kind)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "scan"])
@settings(max_examples=20)
@given(case=cases(domains=True))
def test_it_agrees_with_the_reference_inside_domains(kind: str, case: Case) -> None:
    assert_same(case, kind)


@settings(max_examples=30)
@given(case=cases(), rng=RANDOMS)
def test_trees_of_every_plan_agree_with_the_reference(case: Case, rng: Random) -> None:
    """Limits of the planner that are met only by many filters are met by few."""
    with pytest.MonkeyPatch.context() as patch:
        take(rng.choice(["trees", "groups"]), patch)
        patch.setattr(planner, "_SETS_MAX", rng.choice([0, 1, 64]))
        patch.setattr(planner, "_PAIR_PASSING_MIN", rng.choice([0.0, 2.0, 1e9]))
        patch.setattr(planner, "_OWN_MIN", rng.choice([1, 3, 20, 1_024]))
        patch.setattr(planner, "_KEY_CHANCE_MAX", rng.choice([1e-9, 1 / 64, 1 / 4, 2]))
        patch.setattr(entries, "_PARTS_MAX", rng.choice([1, 2, 4, 8]))
        assert_same(case, "columnar")

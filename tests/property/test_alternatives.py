"""Filters with OR give what the reference index gives, however they are planned and searched."""

from random import Random

import pytest
from hypothesis import given, settings

from tests.property.strategies import RANDOMS
from tests.unit.matching.columnar.alternatives import (
    SCHEMA,
    alternatives,
    batch_of,
    expected,
    publication,
)
from tests.ways import take
from wherecast import Index
from wherecast.matching.columnar import cells
from wherecast.matching.columnar.packing import clauses, planner


@settings(max_examples=25)
@given(rng=RANDOMS)
def test_clauses_and_stamps_of_every_plan_agree_with_the_reference(rng: Random) -> None:
    """Few cells, rare shapes, and clauses where they do not pay, are met by few filters too."""
    plain = rng.random() < 0.6
    models = [alternatives(rng, plain) for _ in range(rng.choice([5, 40]))]
    texts = [_varied(rng, rng.choice(models)) for _ in range(80)]
    batch = batch_of([publication(rng) for _ in range(40)])
    with pytest.MonkeyPatch.context() as patch:
        take(rng.choice(["trees", "groups"]), patch)
        patch.setattr(cells, "_EXACT_MAX", rng.choice([1, 4, 32_766]))
        patch.setattr(cells, "_COARSE", rng.choice([2, 5, 65_000]))
        patch.setattr(planner, "_SETS_MAX", rng.choice([0, 64]))
        patch.setattr(planner, "_OWN_MIN", rng.choice([1, 3, 1_024]))
        pays = rng.choice([True, False, None])
        if pays is not None:
            patch.setattr(clauses, "_pays", lambda *_: pays)
        index = Index(SCHEMA)
        index.add_all(enumerate(texts))
        for start, rows in ((0, 40), (11, 1), (0, 40)):
            some = batch.slice(start, rows)
            assert index.match(some).to_pylist() == expected(texts, some), texts


def _varied(rng: Random, text: str) -> str:
    """A filter of the same shape with other numbers."""
    return "".join(
        str(rng.randrange(6)) if each.isdigit() and before in " (" else each
        for before, each in zip(f" {text}", text, strict=False)
    )

"""Pairs of patterns and strings are decided as `evaluate` decides them, however they are wanted."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from tests.seeds import run_seed
from wherecast.language.meaning.evaluate import evaluate
from wherecast.language.meaning.expression import Pattern
from wherecast.language.meaning.pattern_columns import TextColumn
from wherecast.matching.columnar.search.residual_checks import _pairs_hold
from wherecast.model import Attribute

S = Attribute("s", "string")


def random_pattern(rng: Random) -> Pattern:
    text = "".join(rng.choices("abB", k=rng.randint(1, 3)))
    kind = rng.choice(["like", "ilike", "prefix", "suffix", "contains", "rlike", "rlike"])
    if kind == "rlike":
        text += ".?$"
    elif kind in ("like", "ilike"):
        text = rng.choice(["%{}_", "{}%", "_{}"]).format(text)
    return Pattern(S, kind, text, negated=rng.random() < 0.3)  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [0.01, 0.2, 0.9, 1.0])
def test_pairs_are_decided_as_by_the_definition(share: float) -> None:
    rng = Random(run_seed())
    texts = sorted({"".join(rng.choices("abAB", k=rng.randint(0, 7))) for _ in range(200)})
    patterns = list(dict.fromkeys(random_pattern(rng) for _ in range(150)))
    pairs = [
        (number, place)
        for number in range(len(patterns))
        for place in range(len(texts))
        if rng.random() < share
    ]
    numbers, places = np.array(pairs, np.int64).T
    column = TextColumn(pa.array(texts, pa.large_string()))
    found = _pairs_hold(patterns, column, numbers, places)
    wanted = [evaluate(patterns[n], {"s": texts[p]}) is True for n, p in pairs]
    assert found.tolist() == wanted
    assert any(wanted)

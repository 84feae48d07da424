"""Formulas on whole columns give what the same formulas give row by row."""

import math
from typing import Any

import pyarrow as pa
import pytest

from tests.property.formulas import Formulas, make_formula_row, read_formula
from tests.seeds import jobs, random_of
from wherecast.language.meaning.derived import derive
from wherecast.language.meaning.evaluate import row_value
from wherecast.language.meaning.formula_columns import FormulaInputs, derived_column
from wherecast.model import Attribute

KINDS = ("int", "float", "decimal", "string", "time", "date", "bool")
FORMULAS, ROWS = 400, 70
TYPES = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "string": pa.large_string(),
         "timestamp": pa.int64()}  # fmt: skip


def column(attribute: Attribute, rows: list[dict[str, Any]]) -> pa.Array:
    """The values of an attribute as batches hold them."""
    values = [row.get(attribute.name) for row in rows]
    if attribute.element:
        values = [None if one is None else list(one) for one in values]
        return pa.array(values, pa.list_(TYPES[attribute.element]))
    return pa.array(values, TYPES[attribute.type])


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and bool(one == other)


@pytest.mark.parametrize("job", jobs(8, in_make_test=2, in_release=4))
def test_columns_agree_with_rows(job: int) -> None:
    rng = random_of(f"formula columns {job}")
    formulas = Formulas(rng)
    rows = [make_formula_row(rng) for _ in range(ROWS)]
    wrong, tried = [], 0
    for number in range(FORMULAS):
        text = formulas.make(KINDS[number % len(KINDS)], rng.randrange(1, 4)).ours
        derived = derive(read_formula(text))
        if derived is None:  # a decimal of more digits than attributes have
            continue
        tried += 1
        inputs = FormulaInputs(lambda one: column(one, rows), ROWS)
        found = derived_column(derived, inputs).to_pylist()
        expected = [row_value(derived, row) for row in rows]
        wrong += [
            (text, row, got, want)
            for row, got, want in zip(rows, found, expected, strict=True)
            if not is_same(got, want)
        ]
    assert not wrong, wrong[:3]
    assert tried > FORMULAS / 2

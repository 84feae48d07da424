"""Forms of predicates: each is true and false as often as it says, by DuckDB's account."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from wherecast.workloads.mixed_attributes import GridAttribute, TruthAttribute, Words
from wherecast.workloads.mixed_leaves import leaves_of

WORDS = ("bako", "bakolu", "dako", "elma", "fiko", "fikoma", "goma", "hama", "irko", "joko", "lulu")
ATTRIBUTES = [
    GridAttribute("n", "int", 12, 0.2),
    GridAttribute("x", "float", 500, 0.1),
    GridAttribute("t", "timestamp", 1_000, 0.0),
    Words("w", WORDS, 0.1),
    TruthAttribute("f", 0.2),
]
DRAWS = 60


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda attribute: attribute.name)
def test_a_predicate_is_true_and_false_as_often_as_stated(attribute):
    rng = np.random.default_rng(1)
    column = attribute.column(rng, 4_000)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us"))
    with duckdb.connect() as connection:
        connection.execute("PRAGMA disable_optimizer")
        connection.register("publications", pa.table({attribute.name: column}))
        for leaf in leaves_of(attribute):
            texts = [leaf.text % tuple(constants) for constants in leaf.draw(rng, DRAWS)]
            counts = ", ".join(
                f"count(*) FILTER (WHERE {text}), count(*) FILTER (WHERE NOT ({text}))"
                for text in texts
            )
            found = connection.execute(f"SELECT {counts} FROM publications").fetchone()
            shares = np.array(found).reshape(DRAWS, 2) / 4_000
            error = 4 * shares.std(axis=0) / DRAWS**0.5 + 0.03
            assert (abs(shares.mean(axis=0) - [leaf.true, leaf.false]) < error).all(), leaf.text


def test_every_attribute_has_the_forms_of_its_type():
    forms = {a.name: [leaf.text for leaf in leaves_of(a)] for a in ATTRIBUTES}
    assert forms["f"] == ["f", "NOT f", "f = true", "f IS NULL", "f IS NOT NULL"]
    assert "x >= %s AND x < %s" in forms["x"]
    assert "n IN (%s, %s, %s, %s)" in forms["n"]
    assert forms["w"].count("w LIKE %s") == 4
    assert "t IS NULL" not in forms["t"]  # it is never missing


def test_lists_have_different_constants():
    leaf = next(leaf for leaf in leaves_of(ATTRIBUTES[0]) if leaf.slots == 4)
    for constants in leaf.draw(np.random.default_rng(1), 500):
        assert len(set(constants)) == 4

"""Mixed filters: exactly 5,000 shapes, every part of the language, and their matches."""

import re
from dataclasses import replace

import pyarrow as pa
import pytest

from tests.unit.workloads.oracle import check, count_with_duckdb, publications, texts
from wherecast.workloads import mixed

CONSTANT = re.compile(r"TIMESTAMP '[^']*'|'[^']*'|(?<![\w.])\d+(\.\d+)?(e[+-]?\d+)?|\btrue\b")
LIST = re.compile(r"\(\?(, \?)*\)")


@pytest.fixture(scope="module")
def workload():
    return mixed()


@pytest.fixture(scope="module")
def drawn(workload):
    return texts(workload, 20_000)


def shape(text):
    return CONSTANT.sub("?", text)


def test_matches_per_publication(workload):
    check(workload, count_with_duckdb(workload, 5_000, 1_000))


@pytest.mark.release  # the count itself is in make test
def test_a_drift_of_the_missing_values_fails_the_count(workload):
    emptier = tuple(replace(attribute, missing=0.3) for attribute in workload.attributes)
    drifted = replace(workload, attributes=emptier)
    with pytest.raises(AssertionError, match="matches per publication, not"):
        check(drifted, count_with_duckdb(drifted, 5_000, 300))


def test_there_are_exactly_5000_shapes_and_filters_take_turns(drawn):
    shapes = [shape(text) for text in drawn]
    assert len(set(shapes[:5_000])) == 5_000
    assert shapes[:5_000] == shapes[5_000:10_000] == shapes[15_000:]


def test_shapes_stay_different_without_the_lengths_of_lists_and_the_order(drawn):
    def coarse(text):
        bare = LIST.sub("(?)", shape(text))
        return tuple(sorted(re.split(r"\b(?:AND|OR)\b|[()]", bare)))

    assert len({coarse(text) for text in drawn}) > 4_900  # the layout is lost here too
    assert len({LIST.sub("(?)", shape(text)) for text in drawn}) == 5_000


def test_constants_are_drawn_for_each_filter(drawn):
    plain = {shape(text) for text in drawn if "?" not in shape(text)}
    changed = sum(a != b for a, b in zip(drawn[:5_000], drawn[5_000:10_000], strict=True))
    assert changed >= 4_950 - len(plain)


PARTS = {
    "comparisons": (" = ", " <> ", " < ", " <= ", " > ", " >= "),
    "spans and lists": (" BETWEEN ", " NOT BETWEEN ", " IN (", " NOT IN ("),
    "patterns": (" LIKE '", " NOT LIKE '", "%'", "'%", "'_"),
    "logic": (" AND ", " OR ", "NOT (", " IS NULL", " IS NOT NULL"),
    "types": ("TIMESTAMP '", " = true", "NOT active"),
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_every_part_of_the_language_is_there(drawn, parts):
    for part in parts:
        assert sum(part in text for text in drawn) > 100


def test_every_attribute_is_named_and_no_filter_is_large(workload, drawn):
    for name in workload.schema.names:
        assert any(re.search(rf"\b{name}\b", text) for text in drawn)
    assert max(map(len, drawn)) < 1_000
    assert max(len(shape.leaves) for shape in workload.shapes) == 6


def test_there_are_30_attributes_of_every_type(workload):
    kinds = [attribute.type for attribute in workload.schema]
    counts = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    assert counts == {"bool": 3, "float": 8, "int": 8, "string": 8, "timestamp": 3}


def test_some_attributes_are_missing_in_some_publications(workload):
    table = publications(workload, 20_000)
    for attribute in workload.attributes:
        share = table[attribute.name].null_count / table.num_rows
        assert share == pytest.approx(attribute.missing, abs=0.01)
    assert any(column.null_count for column in table.columns)
    assert pa.types.is_boolean(table["active"].type)


def test_seeds_have_other_shapes(drawn):
    other = {shape(text) for text in texts(mixed(seed=2), 5_000)}
    assert len(other & {shape(text) for text in drawn}) < 500

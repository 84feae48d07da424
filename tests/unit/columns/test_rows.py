from types import MappingProxyType
from typing import Any

import pytest

from wherecast.columns import decode_rows, rows_of
from wherecast.columns.unreadable import Unreadable
from wherecast.model import Limits, Schema

SCHEMA = Schema.from_dict(
    {"no2": "float", "count": "int", "sensor.id": "string", "Seen": "timestamp"}
)
OPEN = Schema.from_dict({"a": "int"}, open=True)


def rejected(rows: list[Any], schema: Schema = SCHEMA, limits: Limits = Limits()) -> list[Any]:  # noqa: B008
    found = decode_rows(rows, schema, limits)
    return [(r.row, r.code, r.attribute) for r in found.rejected]


def test_good_rows_become_columns_and_canonical_rows_again() -> None:
    rows = [
        {"no2": 1, "sensor": {"id": "s"}, "Seen": "1970-01-01T00:00:00.000001Z"},
        {"sensor.id": "t", "count": 2**53 + 1, "no2": None},
        {},
    ]
    found = decode_rows(rows, SCHEMA)
    assert found.rejected == ()
    assert rows_of(found.batch, SCHEMA) == [
        {"no2": 1.0, "sensor.id": "s", "Seen": 1},
        {"sensor.id": "t", "count": 2**53 + 1},
        {},
    ]
    assert [SCHEMA.read(row) for row in rows] == rows_of(found.batch, SCHEMA)


def test_no_rows_are_an_empty_batch() -> None:
    found = decode_rows([], SCHEMA)
    assert found.batch.num_rows == 0
    assert found.batch.schema.names == list(SCHEMA.names)


def test_every_problem_of_every_row_is_reported_and_good_rows_are_kept() -> None:
    rows: list[Any] = [{"no2": "x", "count": 5.5, "zz": 1}, {"no2": 1}, 7, {"count": True}]
    assert rejected(rows) == [
        (0, "unknown_attribute", "zz"),
        (0, "wrong_type", "no2"),
        (0, "wrong_type", "count"),
        (2, "malformed", None),
        (3, "wrong_type", "count"),
    ]
    assert decode_rows(rows, SCHEMA).rows.tolist() == [1]


def test_names_match_by_any_case_where_that_is_unique() -> None:
    found = decode_rows([{"NO2": 1.0, "Sensor": {"ID": "s"}, "seen": "1970-01-01"}], SCHEMA)
    assert rows_of(found.batch, SCHEMA) == [{"no2": 1.0, "sensor.id": "s", "Seen": 0}]
    two = Schema.from_dict({"a": "int", "A": "int"})
    assert rows_of(decode_rows([{"a": 1, "A": 2}], two).batch, two) == [{"a": 1, "A": 2}]


@pytest.mark.parametrize(
    "row",
    [
        {"sensor.id": "s", "sensor": {"id": "t"}},
        {"sensor": {"id": "t"}, "sensor.id": None},
        {"SENSOR.ID": "s", "sensor.id": "t"},
    ],
)
def test_one_attribute_given_twice_is_a_conflict(row: dict[str, Any]) -> None:
    assert rejected([row]) == [(0, "conflict", "sensor.id")]


def test_an_unknown_name_gets_the_nearest_known_one_as_a_hint() -> None:
    found = decode_rows([{"cuont": 1}], SCHEMA)
    assert found.rejected[0].message == "unknown attribute cuont; did you mean count?"


def test_many_unknown_names_cost_few_hints_and_long_ones_are_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Schema, "hint", lambda _self, name: asked.append(name))
    rows = [{f"k{row}_{i}": 1 for i in range(10)} for row in range(100)]
    found = decode_rows([*rows, {"x" * 10**6: 1}], SCHEMA)
    assert len(found.rejected) == 1001
    assert len(asked) <= 20
    assert len(found.rejected[-1].message) < 200


def test_a_nesting_beyond_the_limit_is_too_deep() -> None:
    deep: dict[str, Any] = {"id": 1}
    for _ in range(5):
        deep = {"sensor": deep}
    assert rejected([deep], limits=Limits(json_depth_max=3)) == [
        (0, "too_deep", "sensor.sensor.sensor")
    ]
    assert rejected([deep], limits=Limits(json_depth_max=6))[0][1] == "unknown_attribute"


def test_a_row_that_contains_itself_is_too_deep() -> None:
    row: dict[str, Any] = {}
    row["n"] = row
    assert rejected([row])[0][1] == "too_deep"


def test_more_attributes_than_allowed_are_refused_once() -> None:
    limits = Limits(publication_attributes_max=2)
    row = {"no2": 1.0, "count": 1, "sensor.id": "s"}
    assert rejected([row, {"no2": 1.0}], limits=limits) == [(0, "too_many_attributes", None)]
    assert "the limit is 2" in decode_rows([row], SCHEMA, limits).rejected[0].message


def test_a_record_that_is_null_is_missing() -> None:
    found = decode_rows([{"sensor": None, "no2": 1.0}, {"zz": None}], SCHEMA)
    assert rows_of(found.batch, SCHEMA) == [{"no2": 1.0}]
    assert [(r.row, r.code, r.attribute) for r in found.rejected] == [
        (1, "unknown_attribute", "zz")
    ]


def test_names_that_are_no_strings_are_malformed() -> None:
    assert rejected([{1: 2}]) == [(0, "malformed", None)]


def test_any_mapping_is_a_row() -> None:
    row = MappingProxyType({"sensor": MappingProxyType({"id": "s"})})
    assert rows_of(decode_rows([row], SCHEMA).batch, SCHEMA) == [{"sensor.id": "s"}]


def test_what_could_not_be_read_keeps_its_reason() -> None:
    rows = [
        Unreadable("malformed", "cut off"),
        {"no2": Unreadable("not_finite", "NaN is no number"), "count": "x"},
        {"zz": Unreadable("not_finite", "NaN is no number")},
        {"sensor": Unreadable("duplicate_key", "is given twice")},
    ]
    assert rejected(rows) == [
        (0, "malformed", None),
        (1, "not_finite", "no2"),
        (1, "wrong_type", "count"),
        (2, "unknown_attribute", "zz"),
        (3, "duplicate_key", "sensor"),
    ]


def test_an_open_schema_takes_undeclared_attributes() -> None:
    rows = [
        {"a": 1, "z": 2, "deep": {"er": "t"}},
        {"b": True, "z": "two", "none": None},
        {"a": 1, "z": 3.5},
    ]
    found = decode_rows(rows, OPEN)
    assert found.rejected == ()
    assert found.batch.schema.names == ["a", "b", "deep.er", "z"]
    assert rows_of(found.batch, OPEN) == [OPEN.read(row) for row in rows]
    assert rows_of(found.batch, OPEN)[0] == {"a": 1, "deep.er": "t", "z": 2.0}


def test_an_open_schema_refuses_what_is_no_value_and_a_name_that_is_no_text() -> None:
    rows = [{"z": [1]}, {"\ud800": 1}, {"z": {"x": 1}, "z.x": 2}, {"A": 1}]
    assert rejected(rows, OPEN) == [
        (0, "wrong_type", "z"),
        (1, "malformed", "\\ud800"),
        (2, "conflict", "z.x"),
    ]


def test_an_open_schema_takes_a_limited_number_of_names_at_once() -> None:
    rows = [{f"k{row}": 1} for row in range(5)]
    assert rejected(rows, OPEN, Limits(schema_attributes_max=4)) == [
        (3, "too_many_attributes", "k3"),
        (4, "too_many_attributes", "k4"),
    ]


def test_verdicts_can_be_written_as_text_whatever_the_names_were() -> None:
    found = decode_rows([{"\ud800": "\ud800", "sensor.id": "\ud800"}], SCHEMA)
    assert len(found.rejected) == 2
    for rejection in found.rejected:
        assert f"{rejection.message}{rejection.attribute}".encode()

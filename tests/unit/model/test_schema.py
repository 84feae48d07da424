from typing import Any

import pytest

from wherecast.model import Attribute, Limits, PublicationError, Schema

AIR = Schema.from_dict(
    {
        "no2": {"type": "float", "min": 0, "max": 400, "step": 0.5},
        "count": "int",
        "City": "string",
        "level": {"type": "string", "values": ["low", "high"]},
        "sensor.id": "string",
        "seen": "timestamp",
    }
)
OPEN = Schema.from_dict({"a": "int"}, open=True)


def problems(
    publication: dict[Any, Any],
    schema: Schema = AIR,
    limits: Limits = Limits(),  # noqa: B008
) -> list[tuple[str, str | None]]:
    with pytest.raises(PublicationError) as caught:
        schema.read(publication, limits)
    return [(problem.code, problem.attribute) for problem in caught.value.problems]


def test_attributes_keep_their_order_and_are_found_by_name() -> None:
    assert AIR.names == ("no2", "count", "City", "level", "sensor.id", "seen")
    assert len(AIR) == 6
    assert [attribute.type for attribute in AIR][:2] == ["float", "int"]
    assert "sensor.id" in AIR
    assert "nox" not in AIR
    assert 5 not in AIR


def test_a_name_is_found_by_exact_case_then_by_any_case_where_that_is_unique() -> None:
    two = Schema((Attribute("zone", "int"), Attribute("Zone", "float"), Attribute("Über", "int")))
    assert two.find("zone") == Attribute("zone", "int")
    assert two.find("Zone") == Attribute("Zone", "float")
    assert two.find("ZONE") is None
    assert two.find("ÜBER") == Attribute("Über", "int")
    assert AIR.find("city") == Attribute("City", "string")


def test_the_nearest_name_is_the_hint() -> None:
    assert AIR.hint("cuont") == "did you mean count?"
    assert AIR.hint("pressure") is None


def test_a_publication_is_read_into_canonical_values() -> None:
    row = AIR.read(
        {"no2": 41, "count": 5.0, "city": "Split", "sensor": {"id": "s1"}, "seen": "1970-01-02"}
    )
    assert row == {
        "no2": 41.0, "count": 5, "City": "Split", "sensor.id": "s1", "seen": 86_400_000_000,
    }  # fmt: skip
    assert [type(value) for value in row.values()] == [float, int, str, str, int]


def test_missing_and_null_are_left_out() -> None:
    assert AIR.read({}) == {}
    assert AIR.read({"no2": None, "sensor": None}) == {}
    assert AIR.read({"sensor": {}}) == {}
    assert AIR.read({"sensor": {"id": None}}) == {}


def test_a_nested_field_and_a_flat_key_are_one_attribute() -> None:
    assert AIR.read({"sensor.id": "s"}) == AIR.read({"sensor": {"id": "s"}}) == {"sensor.id": "s"}
    assert problems({"sensor.id": "s", "sensor": {"id": "s"}}) == [("conflict", "sensor.id")]
    assert problems({"City": "a", "CITY": None}) == [("conflict", "City")]


def test_every_problem_is_reported_at_once_with_its_attribute() -> None:
    bad = {"no2": 401, "count": "five", "level": "mid", "nox": 1, "seen": "2026-02-30", 7: 1}
    assert problems(bad) == [
        ("malformed", None),
        ("out_of_range", "no2"),
        ("wrong_type", "count"),
        ("not_listed", "level"),
        ("unknown_attribute", "nox"),
        ("bad_time", "seen"),
    ]
    with pytest.raises(PublicationError, match=r"attribute no2: .*; attribute count: .*"):
        AIR.read(bad)


def test_null_for_an_attribute_that_is_not_there_is_still_unknown() -> None:
    assert problems({"nox": None}) == [("unknown_attribute", "nox")]
    assert OPEN.read({"zz": None}) == {}


def test_limits_are_named() -> None:
    deep = {"sensor": {"id": {"x": 1}}}
    assert problems(deep, limits=Limits(json_depth_max=2)) == [("too_deep", "sensor.id")]
    wide = {f"k{n}": n for n in range(5)}
    with pytest.raises(PublicationError, match="5 attributes, the limit is 4"):
        OPEN.read(wide, Limits(publication_attributes_max=4))


def test_an_open_schema_takes_numbers_as_float_and_keeps_strings_and_bools() -> None:
    row = OPEN.read({"a": 3, "b": 3, "c": "x", "d": True, "e": {"f": 2**53 + 1}})
    assert row == {"a": 3, "b": 3.0, "c": "x", "d": True, "e.f": float(2**53 + 1)}
    assert {name: type(value) for name, value in row.items()}["b"] is float
    assert problems({"b": [1]}, OPEN) == [("wrong_type", "b")]


def test_a_schema_is_written_as_it_is_read() -> None:
    assert AIR.to_dict()["no2"] == {"type": "float", "min": 0.0, "max": 400.0, "step": 0.5}
    assert AIR.to_dict()["count"] == "int"
    assert Schema.from_dict(AIR.to_dict()) == AIR


def test_without_domains_every_value_of_the_type_is_allowed() -> None:
    free = AIR.without_domains()
    assert free.names == AIR.names
    assert free.read({"no2": -1, "level": "mid"}) == {"no2": -1.0, "level": "mid"}


def test_only_declared_domains_count() -> None:
    assert not Attribute("a", "float").has_domain
    assert Attribute("a", "float", min=0).has_domain
    assert Attribute("a", "float").grid is None

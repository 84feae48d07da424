from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from wherecast.model import Attribute, PublicationError, Schema, SchemaError

TOML = """
open = true

[attributes]
no2   = { type = "float", min = 0, max = 1000, step = 0.1 }
count = "int"
level = { type = "string", values = ["low", "mid", "high"] }
"sensor.id" = "string"
"""
ATTRIBUTES = """
% air quality
no2#0:400:0.5

zone$north:south:harbour
  temp # -20 : 50 : 0.1
"""


def problems(attributes: Any) -> list[tuple[str, str | None]]:
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict(attributes)
    return [(problem.code, problem.attribute) for problem in caught.value.problems]


def test_toml() -> None:
    schema = Schema.from_toml(TOML)
    assert schema.open
    assert schema.attributes == (
        Attribute("no2", "float", 0.0, 1000.0, Decimal("0.1")),
        Attribute("count", "int"),
        Attribute("level", "string", values=("low", "mid", "high")),
        Attribute("sensor.id", "string"),
    )


def test_attributes_format() -> None:
    schema = Schema.from_attributes(ATTRIBUTES)
    assert not schema.open
    assert schema.attributes == (
        Attribute("no2", "float", 0.0, 400.0, Decimal("0.5")),
        Attribute("zone", "string", values=("north", "south", "harbour")),
        Attribute("temp", "float", -20.0, 50.0, Decimal("0.1")),
    )


def test_a_file_is_read_by_its_suffix(tmp_path: Path) -> None:
    for name, text in (("a.toml", TOML), ("B.ATTRIBUTES", ATTRIBUTES)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert Schema.load(tmp_path / name).names[0] == "no2"
        assert Schema.load(str(tmp_path / name)).names[0] == "no2"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"[attributes]\n\xe9 = 'int'\n")
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "bad.toml").write_text("[attributes]\na = 'x'\nb = 'y'\n")
    wrong = [
        ("missing.toml", "no such file"),
        ("missing.attributes", "no such file"),
        ("latin.toml", "not UTF-8"),
        ("folder.toml", "is a directory"),
        ("schema", "ends with .toml or .attributes"),
        ("bad.toml", "attribute a: unknown type x"),
    ]
    for name, text in wrong:
        with pytest.raises(SchemaError, match=text) as caught:
            Schema.load(tmp_path / name)
        assert str(caught.value).startswith(str(tmp_path / name))
        assert "\n" not in str(caught.value)


def test_every_problem_is_reported_at_once_with_its_attribute() -> None:
    bad = {
        "a": {"type": "float", "min": 5, "max": 3},
        "b": "integer",
        "c": {"type": "float", "step": 0, "max": "x"},
        "d": {"type": "string", "values": [], "min": 0},
        "e": "int",
    }
    assert problems(bad) == [
        ("bad_domain", "a"),
        ("unknown_type", "b"),
        ("bad_domain", "c"),
        ("bad_domain", "c"),
        ("bad_domain", "d"),
    ]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"type": "flaot"}, "unknown type flaot; did you mean float?"),
        ({"type": "float", "mini": 0}, "unknown key mini; did you mean min?"),
        ({"id": "string"}, 'unknown key id; a nested field is written "a.id"'),
        ({}, "no type; types are int, float, bool, string, timestamp"),
        ({"type": "float", "min": 5, "max": 3}, "min 5.0 is above max 3.0"),
        ({"type": "float", "min": float("nan")}, "min is a finite number, not the number nan"),
        ({"type": "float", "max": 10**400}, "max is a finite number"),
        ({"type": "int", "max": 10**400}, "max is a finite number"),
        ({"type": "int", "max": 2**63}, "max of an int attribute is a 64-bit int"),
        ({"type": "float", "min": True}, "min is a finite number, not true"),
        ({"type": "float", "step": float("inf")}, "step is a number above 0"),
        ({"type": "float", "step": 10**5000}, "step is a number above 0"),
        ({"type": "float", "step": True}, "step is a number above 0, not true"),
        (
            {"type": "bool", "step": 1},
            "step is for int, float and decimal attributes, not for bool",
        ),
        ("decimal", "a decimal needs a scale of 0 to 18, the digits after its point"),
        ({"type": "decimal", "scale": 19}, "a scale of 0 to 18, the digits after its point, not"),
        ({"type": "decimal", "scale": True}, "after its point, not true"),
        ({"type": "decimal", "scale": 2, "min": 0.001}, "min: the number 0.001 has more than 2"),
        ({"type": "decimal", "scale": 2, "step": 0}, "step is a number above 0"),
        ({"type": "decimal", "scale": 2, "min": 2, "max": 1.5}, "min 2 is above max 1.5"),
        ({"type": "float", "scale": 2}, "scale is for decimal attributes, not for float"),
        ({"type": "timestamp", "values": ["x"]}, "values are for string attributes"),
        ({"type": "string", "values": "low"}, "values is a list of strings"),
        ({"type": "string", "values": []}, "values is empty, so no publication could carry it"),
        (["int"], "needs a type or a table, not an array"),
        (None, "needs a type or a table, not null"),
    ],
)
def test_what_is_wrong_is_said(spec: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict({"a": spec})
    assert message in str(caught.value)
    assert str(caught.value).startswith("attribute a: ")


@pytest.mark.parametrize("name", ["", " a", "a ", "a..b", ".a", "a.", 5, None])
def test_what_is_no_name_is_refused(name: Any) -> None:
    assert problems({name: "int", "b": "int"})[0][0] == "bad_name"


def test_bounds_of_an_int_may_be_written_as_floats_where_exact() -> None:
    schema = Schema.from_dict({"a": {"type": "int", "min": -5.0, "max": 5, "step": 2.0}})
    assert schema.attributes == (Attribute("a", "int", -5, 5, Decimal("2.0")),)
    assert [type(bound) for bound in (schema.attributes[0].min, schema.attributes[0].max)] == [
        int, int,
    ]  # fmt: skip


def test_more_attributes_than_allowed_are_refused() -> None:
    with pytest.raises(SchemaError, match="10001 attributes, the limit is 10000"):
        Schema.from_dict({f"a{n}": "int" for n in range(10_001)})


def test_only_an_open_schema_may_be_empty() -> None:
    assert Schema.from_toml("open = true").names == ()
    with pytest.raises(SchemaError, match="at least one attribute"):
        Schema.from_dict({})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[attributes\n", "malformed TOML"),
        ("a = 1\n[attributes]\nb = 'int'", "unknown key a in the file"),
        ("opne = true\n[attributes]\nb = 'int'", "did you mean open?"),
        ("open = 1\n[attributes]\nb = 'int'", "open is true or false, not the number 1"),
        ("attributes = 'int'", "attributes is a table"),
        ("[attributes]\na = 'int'\na = 'int'", "malformed TOML"),
        ("[attributes]\nsensor.id = 'string'", 'a nested field is written "sensor.id"'),
    ],
)
def test_bad_toml(text: str, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_toml(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no2", "line 1: expected name#low:high:step or name$value:value"),
        ("#0:1:1", "line 1: expected name"),
        ("\n%x\nno2#0:1", "line 3: attribute no2: expected three numbers"),
        ("no2#0:1:1:1", "expected three numbers"),
        ("no2#0:x:1", "expected three numbers"),
        ("no2#0:nan:1", "expected three numbers"),
        ("no2#0:inf:1", "expected three numbers"),
        ("no2#5:1:1", "min 5.0 is above max 1.0"),
        ("no2#0:1:-1", "step is a number above 0"),
        ("no2#0:1:1\nno2$a", "line 2: attribute no2 is declared twice"),
        ("zone${north:south", "hold none of # $ { }"),
        ("zone$a:b$c", "hold none of # $ { }"),
        ("zone$a::b", "hold none of"),
        ("zone$a:a", "lists a value twice"),
        ("no2#0:1\nzone", "line 1: attribute no2: expected three numbers low:high:step; line 2"),
    ],
)
def test_bad_attributes_format(text: str, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_attributes(text)
    assert message in str(caught.value)


def test_decimals_with_their_domains_in_units() -> None:
    spec = {
        "price": {"type": "decimal", "scale": 2, "min": 0, "max": 99.95, "step": 0.05},
        "wide": {"type": "decimal", "scale": 2, "max": "9999999999999999.99"},
        "rate": {"type": "decimal", "scale": 6},
        "whole": {"type": "decimal", "scale": 0},
    }
    schema = Schema.from_dict(spec)
    assert schema.attributes == (
        Attribute("price", "int", 0, 9995, Decimal(5), scale=2),
        Attribute("wide", "int", max=10**18 - 1, scale=2),
        Attribute("rate", "int", scale=6),
        Attribute("whole", "int"),
    )
    assert Schema.from_dict(schema.to_dict()) == schema
    assert schema.read({"price": 12.52, "rate": "0.000001"}) == {"price": 1250, "rate": 1}
    with pytest.raises(PublicationError, match=r"99\.96 is above its maximum 99\.95"):
        schema.read({"price": 99.96})

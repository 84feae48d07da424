"""The Publications part of the bad inputs, each with its outcome, and the good ones beside it."""

from typing import Any

import orjson
import pytest

from wherecast.columns import Decoded, decode_json, decode_ndjson, rows_of
from wherecast.model import Limits, PublicationError, Schema

SCHEMA = Schema.from_dict(
    {
        "a": "int",
        "f": "float",
        "b": "bool",
        "s": "string",
        "t": "timestamp",
        "n.x": "float",
        "level": {"type": "string", "values": ["low", "high"]},
        "no2": {"type": "float", "min": 0, "max": 1000, "step": 0.1},
    }
)
DEEP = b"[" * 10_000 + b"]" * 10_000


def verdicts(found: Decoded) -> list[tuple[int, str, str | None]]:
    return [(r.row, r.code, r.attribute) for r in found.rejected]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (b'{"a":9007199254740993}', {"a": 2**53 + 1}),
        (b'{"a":5.0}', {"a": 5}),
        (b'{"a":-9223372036854775808}', {"a": -(2**63)}),
        (b'{"f":9007199254740993}', {"f": 2.0**53}),
        (b'{"f":18446744073709551616}', {"f": 2.0**64}),
        (b'{"f":1e-999}', {"f": 0.0}),
        (b'{"a":-0.0}', {"a": 0}),
        (b'{"s":"a\\u0000b"}', {"s": "a\0b"}),
        (b'{"s":"\\ud83d\\ude00"}', {"s": "\U0001f600"}),
        (b'{"t":"2026-05-01T12:30:00"}', {"t": 1_777_638_600_000_000}),
        (b'{"t":"2026-05-01T14:30:00+02:00"}', {"t": 1_777_638_600_000_000}),
        (b'{"n":{"x":1}}', {"n.x": 1.0}),
        (b'{"A":1,"N.X":2}', {"a": 1, "n.x": 2.0}),
        (b'{"no2":0.25,"level":"low"}', {"no2": 0.3, "level": "low"}),
        (b'{"a":null}', {}),
        (b"{}", {}),
        (b' \n{"a":1}\r\n ', {"a": 1}),
    ],
)
def test_good_publications(text: bytes, row: dict[str, Any]) -> None:
    for body in (text, b"[" + text + b"]", bytearray(text), memoryview(text)):
        found = decode_json(body, SCHEMA)
        assert found.rejected == ()
        assert rows_of(found.batch, SCHEMA) == [row]
    line = text.replace(b"\n", b"")
    assert rows_of(decode_ndjson(line, SCHEMA).batch, SCHEMA) == [row]


def test_minus_zero_is_accepted_and_equals_zero() -> None:
    found = decode_json(b'{"f":-0.0}', SCHEMA)
    assert rows_of(found.batch, SCHEMA) == [{"f": 0.0}]


BAD = [
    (b'{"a":NaN}', "not_finite", "a"),
    (b'{"f":NaN}', "not_finite", "f"),
    (b'{"f":Infinity}', "not_finite", "f"),
    (b'{"f":-Infinity}', "not_finite", "f"),
    (b'{"n":{"x":NaN}}', "not_finite", "n.x"),
    (b'{"f":1e999}', "out_of_range", "f"),
    (b'{"f":-1e999}', "out_of_range", "f"),
    (b'{"a":1e999}', "out_of_range", "a"),
    (b'{"a":' + b"9" * 5000 + b"}", "out_of_range", "a"),
    (b'{"f":-' + b"9" * 5000 + b"}", "out_of_range", "f"),
    (b'{"f":' + b"9" * 400 + b"}", "out_of_range", "f"),
    (b'{"a":9223372036854775808}', "out_of_range", "a"),
    (b'{"a":18446744073709551616}', "out_of_range", "a"),
    (b'{"a":-9223372036854775809}', "out_of_range", "a"),
    (b'{"a":9007199254740994.0}', "out_of_range", "a"),
    (b'{"a":5.5}', "wrong_type", "a"),
    (b'{"a":true}', "wrong_type", "a"),
    (b'{"a":"5"}', "wrong_type", "a"),
    (b'{"a":[1]}', "wrong_type", "a"),
    (b'{"f":"1.5"}', "wrong_type", "f"),
    (b'{"b":1}', "wrong_type", "b"),
    (b'{"s":1}', "wrong_type", "s"),
    (b'{"t":1777638600}', "wrong_type", "t"),
    (b'{"t":"2026-02-30"}', "bad_time", "t"),
    (b'{"t":"2026-05-01T25:00:00"}', "bad_time", "t"),
    (b'{"t":"yesterday"}', "bad_time", "t"),
    (b'{"s":"\\ud800"}', "malformed", "s"),
    (b'{"\\ud800":1}', "unknown_attribute", "\\ud800"),
    (b'{"a":1,"a":1}', "duplicate_key", "a"),
    (b'{"a":1,"\\u0061":2}', "duplicate_key", "a"),
    (b'{"n":{"x":1,"x":2}}', "duplicate_key", "n.x"),
    (b'{"n":{"x":1},"n":{"x":1}}', "duplicate_key", "n"),
    (b'{"t":"2026-05-01T12:30:00","t":"2026-05-01T12:30:00"}', "duplicate_key", "t"),
    (b'{"n.x":1,"n":{"x":1}}', "conflict", "n.x"),
    (b'{"zz":1}', "unknown_attribute", "zz"),
    (b'{"n":1}', "unknown_attribute", "n"),
    (b'{"level":"mid"}', "not_listed", "level"),
    (b'{"no2":1000.04}', "out_of_range", "no2"),
    (b'{"no2":-1}', "out_of_range", "no2"),
    (b'{"a":' + DEEP + b"}", "too_deep", None),
    (b'{"n":' * 40 + b"1" + b"}" * 40, "too_deep", ".".join(["n"] * 32)),
    (b'{"n":' * 10_000 + b"1" + b"}" * 10_000, "too_deep", None),
    (b"1", "malformed", None),
    (b"null", "malformed", None),
    (b'"x"', "malformed", None),
    (b"[]", "malformed", None),
]


@pytest.mark.parametrize(("bad", "code", "attribute"), BAD, ids=lambda v: str(v)[:40])
def test_a_bad_publication_among_good_ones(bad: bytes, code: str, attribute: str | None) -> None:
    good = b'{"s":"12:30","n":{"x":1}}'
    kept = {"s": "12:30", "n.x": 1.0}
    array = decode_json(b'[%s, %s,{"a":2}]' % (good, bad), SCHEMA)
    lines = decode_ndjson(b'%s\n%s\r\n{"a":2}' % (good, bad), SCHEMA)
    for found in (array, lines):
        assert verdicts(found) == [(1, code, attribute)]
        assert found.rejected[0].message
        assert found.rows.tolist() == [0, 2]
        assert rows_of(found.batch, SCHEMA) == [kept, {"a": 2}]
    if bad.startswith(b"{"):
        assert verdicts(decode_json(bad, SCHEMA)) == [(0, code, attribute)]


def test_every_problem_of_a_publication_is_reported() -> None:
    body = b'{"a":true,"a":1,"f":NaN,"zz":1e999,"t":"x","no2":2000}'
    assert sorted(verdicts(decode_json(body, SCHEMA)), key=str) == [
        (0, "bad_time", "t"),
        (0, "duplicate_key", "a"),
        (0, "not_finite", "f"),
        (0, "out_of_range", "no2"),
        (0, "unknown_attribute", "zz"),
    ]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b'{"a":1', "line 1, column"),
        (b'{"a"', "line 1, column"),
        (b'[{"a":1},\n{"a":2', "line 2, column"),
        (b'[{"a":1},\n\n {"a":tru}, {"a":3}]', "line 3, column 7"),
        (b'[{"a":NaN},\n{"a":tru}]', "line 2, column 6"),
        (b'[{"a":1},]', "line 1, column 10"),
        (b'[{"a":1} {"a":2}]', "line 1, column 10"),
        (b'{"a":1}{"a":2}', "line 1, column 8"),
        (b'[{"a":NaN}] []', "line 1, column"),
        (b'{"a":01}', "line 1, column"),
        (b"{'a':1}", "line 1, column 2"),
        (b'{"s":"\x00"}', "line 1, column 7"),
        (b'{"s":"\xff"}', "UTF-8 text at byte 6"),
        (b'{"s":"\xed\xa0\x80"}', "UTF-8 text at byte 6"),
        (b'\xef\xbb\xbf{"a":1}', "line 1, column 1: unexpected utf-8 bom"),
        ('{"a":1}'.encode("utf-16"), "UTF-8 text at byte 0"),
        (b'"text"', "the string 'text'"),
        (b"5", "the number 5"),
        (b"null", "null"),
        (b"true", "true"),
        (DEEP[:10_000], "line 1, column"),
    ],
)
def test_a_body_that_is_not_json_is_refused_as_a_whole(body: bytes, place: str) -> None:
    with pytest.raises(PublicationError) as caught:
        decode_json(body, SCHEMA)
    assert place in str(caught.value)
    assert caught.value.problems[0].code == "malformed"
    assert len(str(caught.value)) < 200


def test_an_empty_array_is_no_rows() -> None:
    assert decode_json(b"[]", SCHEMA).batch.num_rows == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"a":1', "not valid JSON at column 7"),
        (b'{"a":1},', "not valid JSON at column 8"),
        (b'{"a":1} {"a":2}', "not valid JSON at column 9"),
        (b'{"s":"\xff"}', "not UTF-8 text at byte 6"),
        (b"\xef\xbb\xbf{}", "not valid JSON at column 1"),
        (b"nonsense", "not valid JSON at column 1"),
    ],
)
def test_a_line_that_is_not_json_is_a_bad_row(line: bytes, message: str) -> None:
    found = decode_ndjson(b'{"a":1}\n' + line + b'\n{"a":3}', SCHEMA)
    assert verdicts(found) == [(1, "malformed", None)]
    assert message in found.rejected[0].message
    assert rows_of(found.batch, SCHEMA) == [{"a": 1}, {"a": 3}]


def test_ndjson_skips_blank_lines_and_counts_the_others() -> None:
    found = decode_ndjson(b'\n{"a":1}\n\r\n  \n{"a":true}\n{"a":3}\n\n', SCHEMA)
    assert found.rows.tolist() == [0, 2]
    assert verdicts(found) == [(1, "wrong_type", "a")]
    assert decode_ndjson(b"", SCHEMA).batch.num_rows == 0


def test_more_attributes_than_allowed() -> None:
    body = orjson.dumps([{f"k{i}": i for i in range(1001)}, {"a": 1}])
    found = decode_json(body, SCHEMA)
    assert verdicts(found) == [(0, "too_many_attributes", None)]
    assert "1001 attributes, the limit is 1000" in found.rejected[0].message
    assert found.rows.tolist() == [1]


def test_limits_are_arguments() -> None:
    limits = Limits(json_depth_max=1)
    assert verdicts(decode_json(b'{"n":{"x":1}}', SCHEMA, limits)) == [(0, "too_deep", "n")]
    lifted = Limits(json_depth_max=100_000)
    assert verdicts(decode_json(b'{"a":' + DEEP + b"}", SCHEMA, lifted)) == [(0, "too_deep", None)]


def test_an_open_schema_takes_undeclared_attributes_and_refuses_nan_in_them() -> None:
    schema = Schema.from_dict({"a": "int"}, open=True)
    found = decode_json(b'[{"x":1,"y":{"z":"t"}},{"x":NaN},{"x":true}]', schema)
    assert rows_of(found.batch, schema) == [{"x": 1.0, "y.z": "t"}, {"x": True}]
    assert verdicts(found) == [(1, "not_finite", "x")]

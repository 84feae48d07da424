"""Plain rows are what the reader of whole columns makes of them, and stay so through the log."""

from typing import Any

import pyarrow as pa
import pytest

from tests.property.odd_rows import odd_row
from tests.property.strategies import make_row, make_schema
from tests.seeds import random_of
from wherecast import Schema
from wherecast.broker.intake.digests import row_digest, row_digests
from wherecast.columns import decode_rows
from wherecast.columns.log_encoding import decode_entry, encode_rows
from wherecast.columns.plain_rows import PlainRow, PlainRows, plain_text
from wherecast.columns.rows import rows_of

WIDE = Schema.from_dict(
    {
        "f": "float", "g": {"type": "float", "min": 0, "max": 100},
        "h": {"type": "float", "min": 0, "step": 0.25},
        "k": {"type": "float", "min": 0.1, "max": 1e300, "step": 0.1}, "i": "int",
        "j": {"type": "int", "min": -4, "max": 20, "step": 3},
        "m": {"type": "int", "min": -(2**63), "max": 2**63 - 1, "step": 7}, "s": "string",
        "t": {"type": "string", "values": ["a", "b", "é"]}, "b": "bool", "n.x": "float",
        "n.y.z": "string", "at": "timestamp", "d": {"type": "decimal", "scale": 2},
        "tags": "array<string>",
    }
)  # fmt: skip
ODD_NAMES = ["zz", "ZZ", "F", "I", "n.X", "n", "ä", "null", "and", "", "a b", "x.y", "\ud800", 5]
ODD_VALUES = [
    None, True, False, 0, -0.0, 0.0, 0.1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**64, 1e308,
    float("nan"), float("inf"), "", "é", "\0", "a" * 300, "\ud800", "1", {}, {"x": 1.5}, [], ["a"],
]  # fmt: skip
PLAIN_TYPES = {"bool", "int", "float", "string"}
PAYLOADS = [None, b"", b"x", bytes(300)]


def exactly(row: Any) -> Any:
    """A row of which 1, 1.0 and True, and the two zeros, are told apart."""
    return {name: repr(value) for name, value in row.items()}


def odd_rows(job: str, schema: Schema, count: int) -> list[Any]:
    """Rows of a schema with oddities."""
    random = random_of(job)
    plain = Schema(tuple(one for one in schema if one.type in PLAIN_TYPES and not one.scale))
    found = []
    for _ in range(count):
        row = make_row(random, plain)
        if random.random() < 0.4:
            row = odd_row(random, schema, row)
        if random.random() < 0.3:
            row[random.choice(ODD_NAMES)] = random.choice(ODD_VALUES)
        if random.random() < 0.4:
            row[random.choice(schema.attributes).name] = random.choice(ODD_VALUES)
        found.append(row)
    return found


def plain_ones(rows: list[Any], schema: Schema) -> list[tuple[PlainRow, bytes, pa.RecordBatch]]:
    """The plain rows, each with its text and the batch that the reader of columns makes of it."""
    reader, found = PlainRows(schema), []
    for row in rows:
        plain = reader.read(row)
        if plain is not None:
            decoded, text = decode_rows([row], schema), plain_text(plain)
            if text is None:  # has a lone surrogate, which the reader of columns refuses
                assert {one.code for one in decoded.rejected} == {"malformed"}, row
                continue
            assert not decoded.rejected, row
            assert exactly(plain) == exactly(_given(decoded.batch, schema)), row
            found.append((plain, text, decoded.batch))
    return found


def _given(batch: pa.RecordBatch, schema: Schema) -> dict[str, Any]:
    """The values of a batch of one row that are not missing."""
    (row,) = rows_of(batch, schema)
    return {name: value for name, value in row.items() if value is not None}


SCHEMAS = {
    "wide": WIDE,
    "wide and open": Schema(WIDE.attributes, open=True),
    **{f"drawn {job}": None for job in range(20)},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_plain_rows_stay_the_same_through_the_log(name: str) -> None:
    schema = SCHEMAS[name] or make_schema(random_of(name))
    count = 300 if SCHEMAS[name] else 40
    for plain, text, batch in plain_ones(odd_rows(name, schema, count), schema):
        again = decode_entry(encode_rows([text]), "rows", schema)
        assert again.schema.equals(batch.schema, check_metadata=True)
        assert exactly(_given(again, schema)) == exactly(_given(batch, schema)), plain
        for payload in PAYLOADS:
            wanted = row_digests(batch, pa.array([payload], pa.binary()), "air")
            assert row_digest(plain, payload, "air") == int(wanted[0])


@pytest.mark.parametrize("is_open", [False, True])
def test_rows_that_came_one_by_one_are_read_together_as_if_they_had_come_together(
    is_open: bool,
) -> None:
    schema = Schema(WIDE.attributes, is_open)
    given = plain_ones(odd_rows(f"together {is_open}", schema, 200), schema)
    assert len(given) > 20
    together = decode_entry(encode_rows([text for _, text, _ in given]), "rows", schema)
    for row, (plain, _, batch) in zip(rows_of(together, schema), given, strict=True):
        assert exactly(row) == exactly(plain) == exactly(_given(batch, schema))
    digests = row_digests(together, pa.nulls(len(given), pa.binary()), "air")
    assert digests.tolist() == [row_digest(plain, None, "air") for plain, _, _ in given]

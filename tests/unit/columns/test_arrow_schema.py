import pyarrow as pa

from wherecast.columns import arrow_schema
from wherecast.columns.arrow_schema import OPEN_TYPE, is_open_field, open_field
from wherecast.model import Schema


def test_each_attribute_is_one_flat_column_in_the_order_of_the_schema() -> None:
    schema = Schema.from_dict(
        {"z": "int", "a": "float", "b": "bool", "n.s": "string", "t": "timestamp"}
    )
    assert arrow_schema(schema) == pa.schema(
        [
            ("z", pa.int64()),
            ("a", pa.float64()),
            ("b", pa.bool_()),
            ("n.s", pa.string()),
            ("t", pa.timestamp("us", tz="UTC")),
        ]
    )


def test_an_undeclared_attribute_is_a_marked_struct() -> None:
    field = open_field("x")
    assert str(field.type) == "struct<number: double, text: string, truth: bool>"
    assert field.metadata == {b"wherecast.open": b"1"}
    assert is_open_field(field)
    assert not is_open_field(pa.field("x", OPEN_TYPE))
    assert not is_open_field(pa.field("x", pa.int64(), metadata=field.metadata))

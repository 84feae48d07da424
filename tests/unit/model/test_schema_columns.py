import pyarrow as pa
import pytest

from wherecast import Filter, FilterError
from wherecast.model import Attribute, Schema, SchemaError


def types(schema: Schema) -> dict[str, str]:
    return {attribute.name: attribute.kind for attribute in schema}


def test_arrow_columns() -> None:
    schema = Schema.from_arrow(
        pa.schema(
            {
                "a": pa.int8(), "b": pa.uint64(), "c": pa.float16(), "d": pa.float32(),
                "e": pa.float64(), "f": pa.bool_(), "g": pa.string(), "h": pa.large_string(),
                "i": pa.string_view(), "j": pa.dictionary(pa.int32(), pa.string()),
                "k": pa.timestamp("s"), "l": pa.timestamp("ns", tz="Europe/Zagreb"),
                "m": pa.date32(), "n": pa.date64(),
            }
        )
    )  # fmt: skip
    assert types(schema) == {
        "a": "int", "b": "int", "c": "float", "d": "float", "e": "float", "f": "bool",
        "g": "string", "h": "string", "i": "string", "j": "string",
        "k": "timestamp", "l": "timestamp", "m": "date", "n": "date",
    }  # fmt: skip
    assert not schema.open
    assert not any(attribute.has_domain for attribute in schema)


def test_arrow_structs_get_dotted_names() -> None:
    inner = pa.struct({"id": pa.string(), "place": pa.struct({"lat": pa.float64()})})
    schema = Schema.from_arrow(pa.schema({"sensor": inner, "n": pa.int64()}))
    assert types(schema) == {"sensor.id": "string", "sensor.place.lat": "float", "n": "int"}


def test_other_arrow_columns_are_kept_by_name_and_type() -> None:
    schema = Schema.from_arrow(pa.schema({"a": pa.int64(), "l": pa.list_(pa.bool_())}))
    assert types(schema) == {"a": "int"}
    assert list(schema.unsupported) == ["l"]
    with pytest.raises(FilterError, match=r"l has type list<.*>, which filters cannot use"):
        Filter("l = 5", schema)


def test_arrow_lists_of_strings_ints_and_floats_are_arrays() -> None:
    taken = {
        "a": pa.list_(pa.string()), "b": pa.large_list(pa.string_view()),
        "c": pa.list_(pa.large_string(), 3), "d": pa.list_(pa.dictionary(pa.int8(), pa.string())),
        "e": pa.list_(pa.uint8()), "f": pa.large_list(pa.int64()), "g": pa.list_(pa.float32()),
    }  # fmt: skip
    refused = {
        "n": pa.list_(pa.list_(pa.string())), "o": pa.list_(pa.timestamp("us")),
        "p": pa.list_(pa.decimal128(9, 0)), "q": pa.list_(pa.bool_()), "r": pa.list_(pa.date32()),
        "s": pa.list_(pa.struct({"x": pa.int64()})), "t": pa.list_view(pa.string()),
        "u": pa.dictionary(pa.int8(), pa.list_(pa.string())),
        "v": pa.map_(pa.string(), pa.int64()),
    }  # fmt: skip
    schema = Schema.from_arrow(pa.schema(taken | refused))
    assert types(schema) == {
        "a": "array<string>", "b": "array<string>", "c": "array<string>", "d": "array<string>",
        "e": "array<int>", "f": "array<int>", "g": "array<float>",
    }  # fmt: skip
    assert list(schema.unsupported) == list(refused)


def test_spark_arrays() -> None:
    spark = pytest.importorskip("pyspark.sql.types")
    elements = {
        "a": spark.StringType(), "b": spark.VarcharType(5), "c": spark.ByteType(),
        "d": spark.ShortType(), "e": spark.IntegerType(), "f": spark.LongType(),
        "g": spark.FloatType(), "h": spark.DoubleType(), "p": spark.BooleanType(),
        "q": spark.DecimalType(9, 0), "r": spark.TimestampType(), "s": spark.DateType(),
        "t": spark.ArrayType(spark.StringType()), "u": spark.CharType(3),
    }  # fmt: skip
    fields = [spark.StructField(name, spark.ArrayType(kind)) for name, kind in elements.items()]
    padded = {"__CHAR_VARCHAR_TYPE_STRING": "array<char(3)>"}
    fields.append(spark.StructField("v", spark.ArrayType(spark.StringType()), True, padded))
    schema = Schema.from_spark(spark.StructType(fields))
    assert types(schema) == {
        "a": "array<string>", "b": "array<string>", "c": "array<int>", "d": "array<int>",
        "e": "array<int>", "f": "array<int>", "g": "array<float>", "h": "array<float>",
    }  # fmt: skip
    assert list(schema.unsupported) == ["p", "q", "r", "s", "t", "u", "v"]


def test_decimals_of_up_to_18_digits() -> None:
    schema = Schema.from_arrow(
        pa.schema(
            {
                "a": pa.decimal128(18, 2), "b": pa.decimal256(5, 5), "c": pa.decimal128(9, 0),
                "d": pa.decimal128(16, -2), "e": pa.decimal128(19, 2), "f": pa.decimal128(17, -2),
                "g": pa.decimal128(3, 19), "h": pa.dictionary(pa.int8(), pa.decimal128(4, 1)),
            }
        )
    )  # fmt: skip
    assert {a.name: (a.kind, a.scale) for a in schema} == {
        "a": ("decimal", 2), "b": ("decimal", 5), "c": ("int", 0), "d": ("int", 0),
        "h": ("decimal", 1),
    }  # fmt: skip
    assert list(schema.unsupported) == ["e", "f", "g"]
    with pytest.raises(FilterError, match=r"e has type decimal128\(19, 2\)") as caught:
        Filter("e > 5", schema)
    assert caught.value.hint == "cast it to a decimal of at most 18 digits, or to double"


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(SchemaError, match=r"two columns are named sensor\.id"):
        Schema.from_arrow(
            pa.schema({"sensor": pa.struct({"id": pa.string()}), "sensor.id": pa.int64()})
        )


def test_spark_columns_without_a_session() -> None:
    spark = pytest.importorskip("pyspark.sql.types")
    fields = {
        "a": spark.ByteType(), "b": spark.ShortType(), "c": spark.IntegerType(),
        "d": spark.LongType(), "e": spark.FloatType(), "f": spark.DoubleType(),
        "g": spark.BooleanType(), "h": spark.StringType(), "i": spark.VarcharType(5),
        "j": spark.TimestampType(), "k": spark.TimestampNTZType(),
        "l": spark.ArrayType(spark.LongType()), "m": spark.BinaryType(),
        "n": spark.DateType(), "o": spark.DecimalType(18, 4), "p": spark.DecimalType(9, 0),
        "q": spark.DecimalType(20, 2), "r": spark.CharType(3), "s": spark.MapType(
            spark.StringType(), spark.LongType()), "t": spark.DayTimeIntervalType(),
    }  # fmt: skip
    place = spark.StructType([spark.StructField("lat", spark.DoubleType())])
    listed = [spark.StructField(name, type_) for name, type_ in fields.items()]
    schema = Schema.from_spark(spark.StructType([*listed, spark.StructField("at", place)]))
    assert types(schema) == {
        "a": "int", "b": "int", "c": "int", "d": "int", "e": "float", "f": "float", "g": "bool",
        "h": "string", "i": "string", "j": "timestamp", "k": "timestamp_ntz", "n": "date",
        "l": "array<int>", "o": "decimal", "p": "int", "at.lat": "float",
    }  # fmt: skip
    assert schema.unsupported == {
        "m": "binary", "q": "decimal(20,2)", "r": "char(3)",
        "s": "map<string,bigint>", "t": "interval day to second",
    }  # fmt: skip


def test_spark_notes_in_the_metadata_what_a_string_is_declared_as() -> None:
    spark = pytest.importorskip("pyspark.sql.types")
    fields = [
        spark.StructField(name, spark.StringType(), True, {"__CHAR_VARCHAR_TYPE_STRING": declared})
        for name, declared in (("c", "char(5)"), ("v", "varchar(5)"))
    ]
    schema = Schema.from_spark(spark.StructType(fields))
    assert types(schema) == {"v": "string"}
    with pytest.raises(FilterError, match=r"c has type char\(5\), which filters") as caught:
        Filter("c = 'ab'", schema)
    assert caught.value.hint == "cast it to string"


def test_attributes_from_columns_have_no_domain() -> None:
    schema = Schema.from_arrow(pa.schema({"x": pa.float64()}))
    assert schema.attributes == (Attribute("x", "float"),)
    assert schema.read({"x": float("nan")}).keys() == {"x"}

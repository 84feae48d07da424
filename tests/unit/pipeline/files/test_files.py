"""Files of publications, filters and results."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wherecast import ConfigError, Schema, SchemaError
from wherecast.pipeline.files import open_output, open_publications, read_filters

SCHEMA = Schema.from_dict({"n": {"type": "int", "max": 9}, "city": "string", "seen": "timestamp"})


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def rows(path: Path, schema: Schema | None = None) -> list[dict[str, Any]]:
    """All rows that can be read, as dicts; what is missing is left out."""
    file = open_publications(path, schema)
    batches = [part.batch for part in file.parts()]
    assert all(batch.schema == file.columns for batch in batches)
    found = [row for batch in batches for row in batch.to_pylist()]
    return [{name: value for name, value in row.items() if value is not None} for row in found]


def letters(path: Path, schema: Schema | None = None) -> dict[int, str]:
    """What could not be read, by row."""
    parts = open_publications(path, schema).parts()
    return {letter.row: letter.reason for part in parts for letter in part.dead_letters}


class TestJsonLines:
    def test_types_come_from_all_values(self, tmp_path: Path) -> None:
        lines = [
            '{"i": 1, "f": 1, "s": "a", "b": true, "t": "2026-05-01T12:00:00Z", "at": {"x": 1.5}}',
            "",
            '{"i": 2, "f": 2.5, "s": null, "tags": [1, true], "mixed": 1, "big": 9007199254740993}',
            '{"mixed": "one", "empty": null, "at.y": 2}',
        ]
        path = write(tmp_path / "in.jsonl", "\n".join(lines))

        schema = open_publications(path).schema

        assert {a.name: a.type for a in schema} == {
            "i": "int",
            "f": "float",
            "s": "string",
            "b": "bool",
            "t": "timestamp",
            "at.x": "float",
            "big": "int",
            "at.y": "int",
        }
        assert schema.unsupported == {"tags": "list", "mixed": "int or string", "empty": "null"}
        assert rows(path)[1:] == [
            {"i": 2, "f": 2.5, "tags": "[1,true]", "mixed": "1", "big": 9007199254740993},
            {"mixed": '"one"', "at.y": 2},
        ]
        assert rows(path)[0]["t"] == datetime(2026, 5, 1, 12, tzinfo=UTC)

    def test_arrays_of_one_type_are_attributes(self, tmp_path: Path) -> None:
        lines = [
            '{"i": [1, null], "f": [1], "s": ["a"], "e": [], "t": ["2026-05-01T12:00:00Z"]}',
            '{"i": [], "f": [0.5], "s": ["2026-05-01T12:00:00Z"], "b": [true], "n": [[1]]}',
            json.dumps({"o": {"x": [1.5]}, "long": [0] * 1001}),
            '{"both": [1]}\n{"both": 1}\n{"mixed": ["a"]}\n{"mixed": [1]}',
        ]
        path = write(tmp_path / "in.jsonl", "\n".join(lines))

        schema = open_publications(path).schema

        assert {a.name: a.type for a in schema} == {
            "i": "array<int>", "f": "array<float>", "s": "array<string>", "e": "array<string>",
            "t": "array<string>", "o.x": "array<float>",
        }  # fmt: skip
        assert schema.unsupported == {
            "b": "list", "n": "list", "long": "list", "both": "array<int> or int",
            "mixed": "array<int> or array<string>",
        }  # fmt: skip
        first, second, third, *_ = rows(path)
        assert first == {
            "i": [1, None], "f": [1.0], "s": ["a"], "e": [], "t": ["2026-05-01T12:00:00Z"],
        }  # fmt: skip
        assert (second["i"], second["b"], second["n"]) == ([], "[true]", "[[1]]")
        assert third["o.x"] == [1.5]
        assert json.loads(third["long"]) == [0] * 1001

    def test_a_declared_array_is_read(self, tmp_path: Path) -> None:
        schema = Schema.from_dict({"tags": "array<string>"}, open=True)
        path = write(tmp_path / "in.jsonl", '{"tags": ["a"]}\n{"tags": [1]}\n{"x": ["a"]}')
        assert rows(path, schema)[:1] == [{"tags": ["a"]}]
        assert letters(path, schema) == {
            1: "attribute tags[0]: needs a string, not the number 1",
            2: "attribute x: needs a number, not an array",
        }

    def test_bad_lines_have_their_numbers(self, tmp_path: Path) -> None:
        lines = [
            '{"n": 1}',
            "\n",
            "oops",
            '{"n": "x"}',
            '{"m": 1}',
            '{"n": 1, "n": 2}',
            '{"n": 99}',
        ]
        path = write(tmp_path / "in.jsonl", "\n".join(lines))

        found = letters(path, SCHEMA)

        assert found.keys() == {1, 2, 3, 4}
        assert "not valid JSON" in found[1]
        assert "unknown attribute m" in found[3]
        assert rows(path, SCHEMA) == [{"n": 1}, {"n": 99}]  # the domain is looked at later

    def test_an_open_schema_takes_several_kinds(self, tmp_path: Path) -> None:
        path = write(tmp_path / "in.jsonl", '{"n": 1, "x": 1, "y": 2}\n{"x": "a", "y": 3}\n')
        schema = Schema.from_dict({"n": "int"}, open=True)
        file = open_publications(path, schema)

        assert {a.name: a.type for a in file.schema} == {"n": "int", "y": "float"}
        assert file.schema.open
        first, second = rows(path, schema)
        assert first["x"]["number"] == 1.0
        assert second["x"]["text"] == "a"

    def test_an_empty_file_has_no_rows(self, tmp_path: Path) -> None:
        assert rows(write(tmp_path / "in.jsonl", "\n")) == []

    def test_parts_follow_one_another(self, tmp_path: Path) -> None:
        path = write(tmp_path / "in.jsonl", '{"n": 1}\nx\n{"n": 2}\n{"n": 3}\nx\n')

        parts = list(open_publications(path, SCHEMA, part_rows=2).parts())

        assert [part.rows.tolist() for part in parts] == [[0], [2, 3], []]
        assert [[d.row for d in part.dead_letters] for part in parts] == [[1], [], [4]]


class TestCsv:
    TEXT = (
        "n,City,seen,note,f,flag,code\n"
        '1,Zagreb,2026-05-01T12:00,"a, b",1.5,true,007\n'
        ',"",2026-05-02 00:00:00+02:00,,2,FALSE,x1\n'
    )

    def test_an_array_attribute_is_refused(self, tmp_path: Path) -> None:
        schema = Schema.from_dict({"n": "int", "tags": "array<string>"})
        path = write(tmp_path / "in.csv", "n,tags\n1,[a]\n")
        with pytest.raises(ConfigError, match=r"tags is array<string>.*CSV.*use .jsonl or .parq"):
            rows(path, schema)
        assert rows(write(tmp_path / "other.csv", "n\n1\n"), schema) == [{"n": 1}]

    def test_columns_are_typed_by_the_schema(self, tmp_path: Path) -> None:
        path = write(tmp_path / "in.csv", self.TEXT)

        assert open_publications(path, SCHEMA).columns.field("f").type == pa.string()
        assert rows(path, SCHEMA) == [
            {
                "n": 1,
                "City": "Zagreb",
                "seen": datetime(2026, 5, 1, 12, tzinfo=UTC),
                "note": "a, b",
                "f": "1.5",
                "flag": "true",
                "code": "007",
            },
            {
                "seen": datetime(2026, 5, 1, 22, tzinfo=UTC),
                "f": "2",
                "flag": "FALSE",
                "code": "x1",
            },
        ]

    def test_or_by_all_their_values(self, tmp_path: Path) -> None:
        path = write(tmp_path / "in.csv", self.TEXT)

        assert {a.name: a.type for a in open_publications(path).schema} == {
            "n": "int",
            "City": "string",
            "seen": "timestamp",
            "note": "string",
            "f": "float",
            "flag": "bool",
            "code": "string",
        }
        assert rows(path)[1]["flag"] is False

    def test_bad_rows_have_their_numbers(self, tmp_path: Path) -> None:
        path = tmp_path / "in.csv"
        path.write_bytes(b"n,city\n1,a\n2\n\nx,b\n5.0,c\n6.5,d\n7,\xff\n8,e,f\n")

        found = letters(path, SCHEMA)

        assert found == {
            1: "1 fields, the header has 2",
            2: "attribute n: needs an int, not the string 'x'",
            4: "attribute n: needs an int, not 6.5",
            5: "attribute city: has a lone surrogate, which is no character",
            6: "3 fields, the header has 2",
        }
        assert rows(path, SCHEMA) == [{"n": 1, "city": "a"}, {"n": 5, "city": "c"}]

    @pytest.mark.parametrize(("text", "told"), [("", "is empty"), ("a,b,a\n", "than one column a")])
    def test_a_header_is_needed(self, tmp_path: Path, text: str, told: str) -> None:
        with pytest.raises(ConfigError, match=told):
            open_publications(write(tmp_path / "in.csv", text))


class TestParquet:
    def test_columns_are_as_they_are(self, tmp_path: Path) -> None:
        table = pa.table({"n": pa.array([1], pa.int32()), "at": [{"x": 1}], "tags": [["a"]]})
        pq.write_table(table, tmp_path / "in.parquet")
        file = open_publications(tmp_path / "in.parquet")

        assert file.schema.names == ("n", "at.x", "tags")
        assert rows(tmp_path / "in.parquet") == [{"n": 1, "at": {"x": 1}, "tags": ["a"]}]

    def test_lists_of_any_length_are_read(self, tmp_path: Path) -> None:
        vectors = pa.array([[0.5] * 1536, None], pa.list_(pa.float32(), 1536))
        pq.write_table(pa.table({"n": [1, 2], "vector": vectors}), tmp_path / "in.parquet")
        assert open_publications(tmp_path / "in.parquet").schema.names == ("n", "vector")
        assert [len(row.get("vector", ())) for row in rows(tmp_path / "in.parquet")] == [1536, 0]

    def test_a_column_that_cannot_be_the_attribute_is_refused_at_once(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"n": ["one"]}), tmp_path / "in.parquet")

        with pytest.raises(SchemaError, match="column n is string"):
            open_publications(tmp_path / "in.parquet", SCHEMA)

    def test_what_is_no_parquet_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="cannot be read as Parquet"):
            open_publications(write(tmp_path / "in.parquet", "n\n1\n"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("in.csv", "price,day\n12.50,2026-05-01\n1.005,2026-05-01\n99999999999999.99,\n"),
        (
            "in.jsonl",
            '{"price": 12.5, "day": "2026-05-01"}\n{"price": 1.005}\n{"price":"99999999999999.99"}',
        ),
    ],
)
def test_decimals_and_dates_stay_exact(tmp_path: Path, name: str, text: str) -> None:
    schema = Schema.from_dict({"price": {"type": "decimal", "scale": 2}, "day": "date"})
    path = write(tmp_path / name, text)

    assert rows(path, schema) == [
        {"price": Decimal("12.50"), "day": date(2026, 5, 1)},
        {"price": Decimal("99999999999999.99")},
    ]
    assert "has more than 2 digits after the point" in letters(path, schema)[1]


class TestFilterFiles:
    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("f.jsonl", '{"id": 1, "filter": "n > 1", "x": 0}\n\n{"id": 2, "filter": "n > 2"}\n'),
            ("f.csv", "filter,id\nn > 1,1\nn > 2,2\n"),
        ],
    )
    def test_ids_and_filters(self, tmp_path: Path, name: str, text: str) -> None:
        found = read_filters(write(tmp_path / name, text))

        assert found.to_pydict() == {"id": [1, 2], "filter": ["n > 1", "n > 2"]}
        pq.write_table(found, tmp_path / "f.parquet")
        assert read_filters(tmp_path / "f.parquet").equals(found)

    def test_ids_of_a_csv_file_are_texts_where_one_is(self, tmp_path: Path) -> None:
        path = write(tmp_path / "f.csv", "id,filter\n007,n > 1\n8,n > 2\n,n > 3\n")

        assert read_filters(path).column("id").to_pylist() == ["007", "8", None]

    @pytest.mark.parametrize(
        ("name", "text", "told"),
        [
            ("f.csv", "id,where\n1,n > 1\n", "no column filter; it has id, where"),
            ("f.csv", "id,filter\n1\n", "row 1: 1 fields"),
            ("f.jsonl", "{", "line 1: not valid JSON"),
            ("f.jsonl", '{"id": 1}', "line 1: needs"),
            ("f.jsonl", '{"id": 1, "filter": 2}', "line 1: the filter is not a string"),
            (
                "f.jsonl",
                '{"id": 1, "filter": ""}\n{"id": "a", "filter": ""}',
                "ids are all strings",
            ),
            ("f.parquet", "x", "cannot be read as Parquet"),
            ("f.txt", "x", "the suffix must be one of .jsonl, .parquet, .csv"),
        ],
    )
    def test_what_is_wrong_is_named(self, tmp_path: Path, name: str, text: str, told: str) -> None:
        with pytest.raises(ConfigError, match=told):
            read_filters(write(tmp_path / name, text))

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="no such file"):
            read_filters(tmp_path / "f.csv")
        (tmp_path / "d.csv").mkdir()
        with pytest.raises(ConfigError, match="is not a file"):
            read_filters(tmp_path / "d.csv")


class TestOutputs:
    BATCH = pa.RecordBatch.from_pylist(
        [
            {
                "a.b": 1,
                "s": {"x": None, "y": 2.5},
                "t": datetime(2026, 5, 1, 12, tzinfo=UTC),
                "tags": ["x", None],
                "raw": b"\xff",
                "price": Decimal("1.50"),
                "no": None,
                "yes": True,
                "text": 'say "hi", please',
            }
        ]
    )

    def written(self, path: Path) -> Path:
        with open_output(path, self.BATCH.schema) as output:
            output.write(self.BATCH)
        return path

    def test_json_lines(self, tmp_path: Path) -> None:
        assert json.loads(self.written(tmp_path / "out.jsonl").read_text()) == {
            "a": {"b": 1},
            "s": {"y": 2.5},
            "t": "2026-05-01T12:00:00Z",
            "tags": ["x", None],
            "raw": "/w==",
            "price": "1.50",
            "yes": True,
            "text": 'say "hi", please',
        }

    def test_csv(self, tmp_path: Path) -> None:
        assert self.written(tmp_path / "out.csv").read_text() == (
            "a.b,s.x,s.y,t,tags,raw,price,no,yes,text\n"
            '1,,2.5,2026-05-01T12:00:00Z,"[""x"",null]",/w==,1.50,,true,"say ""hi"", please"\n'
        )

    def test_parquet(self, tmp_path: Path) -> None:
        table = pq.read_table(self.written(tmp_path / "out.parquet"))

        assert table.to_pylist() == self.BATCH.to_pylist()

    @pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
    def test_whole_or_not_at_all(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"out.{suffix}"
        path.write_text("before")

        with pytest.raises(ZeroDivisionError), open_output(path, self.BATCH.schema) as output:
            output.write(1 / 0)

        assert path.read_text() == "before"
        assert list(tmp_path.iterdir()) == [path]

    def test_a_directory_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with (
            pytest.raises(ConfigError, match=r"cannot write .*: No such file"),
            open_output(tmp_path / "no" / "out.csv", self.BATCH.schema),
        ):
            pass

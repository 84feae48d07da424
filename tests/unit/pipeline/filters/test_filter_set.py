"""`FilterSet` on Arrow tables, without a Spark session."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql.types import ArrayType, DoubleType, StringType, StructField, StructType

from tests.spark.services import until
from wherecast import ConfigError, ConflictError, FilterError, Schema, SnapshotError, WherecastError
from wherecast.model import Attribute
from wherecast.pipeline.filters.blob_location import Place
from wherecast.pipeline.filters.filter_loading import filter_table, load
from wherecast.pipeline.filters.filter_set import Change, FilterSet
from wherecast.pipeline.filters.stored_filters import counters

SCHEMA = Schema.from_dict({"x": "float", "city": "string"})
COLUMNS = StructType([StructField("x", DoubleType()), StructField("city", StringType())])
FULL_DISK = """
import sys, tempfile
import pyarrow as pa
from wherecast import Schema, WherecastError
from wherecast.pipeline.filters.filter_set import FilterSet

def add(count):
    texts = [f"x > {n}" for n in range(count)]
    return filters.add(pa.table({"id": range(count), "filter": texts}))

filters = FilterSet(sys.argv[1], Schema.from_dict({"x": "float"}))
try:
    add(100_000)
except WherecastError as error:
    print(error)
print(add(1))
tempfile.tempdir = sys.argv[1]
try:
    add(100_000)
except WherecastError as error:
    print(error)
print(add(2))
"""
FORKED = multiprocessing.get_context("fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def table(**filters: str) -> pa.Table:
    return pa.table({"id": list(filters), "filter": list(filters.values())})


def texts(filters: FilterSet) -> dict[Any, str]:
    stored = filters.filters().stored
    tables = [filter_table(part, Place(filters.uri).open) for part in stored.parts]
    return {row["id"]: row["filter"] for one in tables for row in one.to_pylist()}


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "set")


@pytest.fixture
def filters(uri: str) -> FilterSet:
    return FilterSet(uri, COLUMNS)


class TestOpening:
    def test_a_set_is_made_once_and_opened_by_its_uri(self, uri: str) -> None:
        made = FilterSet(uri, SCHEMA, keep=["email", "email"], keep_for=timedelta(hours=2))
        again = FilterSet(Path(uri))
        assert (again.schema, again.keep, again.version, len(again)) == (SCHEMA, ("email",), 1, 0)
        assert again.uri == made.uri == Path(uri).as_uri()
        assert repr(FilterSet(again.uri)) == f"FilterSet({made.uri!r}, version=1, filters=0)"
        assert FilterSet(uri, SCHEMA).keep == ("email",)

    def test_a_schema_of_columns_declares_no_domains(self, filters: FilterSet, uri: str) -> None:
        assert FilterSet(uri, COLUMNS).schema == filters.schema

    @pytest.mark.parametrize(
        ("options", "what"),
        [
            ({"schema": Schema.from_dict({"x": "int"})}, "schema"),
            ({"schema": SCHEMA}, "domains"),
            ({"schema": COLUMNS, "keep": ["email"]}, "kept columns"),
            ({"keep": ["email"]}, "kept columns"),
            ({"schema": COLUMNS, "keep_for": "8d"}, "keep_for"),
            ({"keep_for": "8d"}, "keep_for"),
        ],
    )
    def test_a_set_made_for_something_else(
        self, filters: FilterSet, uri: str, options: dict[str, Any], what: str
    ) -> None:
        with pytest.raises(ConfigError, match=f"was made with other {what}$"):
            FilterSet(uri, **options)

    def test_no_set_is_not_made_without_a_schema(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"no set of filters at .*; give a schema to make"):
            FilterSet(tmp_path / "none")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("uri", ["hdfs://host/set", "local:///tmp/set", "memory://set"])
    def test_a_store_where_two_writers_are_not_safe(self, uri: str) -> None:
        with pytest.raises(ConfigError, match=r"two writers are not safe on .*; they are on paths"):
            FilterSet(uri, SCHEMA)

    @pytest.mark.parametrize("keep_for", ["5s", timedelta(0), "soon"])
    def test_versions_are_kept_for_a_minute_at_least(self, uri: str, keep_for: Any) -> None:
        with pytest.raises(ConfigError, match=r"keep_for|is not a duration"):
            FilterSet(uri, SCHEMA, keep_for=keep_for)
        assert not Path(uri).exists()

    @pytest.mark.parametrize("name", [" lead", "", ".dot", "dot.", "a..b", "a`b"])
    def test_columns_of_names_that_nobody_could_declare(self, uri: str, name: str) -> None:
        columns = StructType([StructField(name, StringType()), StructField("c", StringType())])
        FilterSet(uri, columns)
        filters, quoted = FilterSet(uri), "`" + name.replace("`", "``") + "`"
        for number, rest in enumerate(("= 'a'", "LIKE '%a_b%'", "< c")):
            filters.add(pa.table({"id": [number], "filter": [f"{quoted} {rest}"]}))
        filters.compact()
        found = load(FilterSet(uri, columns).filters().stored, Place(filters.uri).open)
        rows = pa.RecordBatch.from_arrays(
            [pa.array(["a", "xa_bx"]), pa.array(["b", "b"])], names=[name, "c"]
        )
        assert found.parts.match(rows).indices.tolist() == [0, 2, 1]

    def test_a_schema_that_would_be_read_as_another_one(self, uri: str) -> None:
        twice = Schema((Attribute("x", "int"), Attribute("x", "float")))
        with pytest.raises(ConfigError, match="this schema cannot be stored"):
            FilterSet(uri, twice)
        assert not Path(uri).exists()

    def test_a_damaged_or_newer_set(self, filters: FilterSet, uri: str) -> None:
        path = Path(uri) / "set.json"
        good = path.read_text()
        path.write_text(good.replace('"enforced": false', '"enforced": true'))
        with pytest.raises(SnapshotError, match=r"/set.json is damaged$"):
            FilterSet(uri)
        path.write_text(good.replace('"format": 1', '"format": 2'))
        with pytest.raises(SnapshotError, match="a newer Wherecast wrote it"):
            FilterSet(uri)


class TestChanging:
    def test_counts_and_versions(self, filters: FilterSet) -> None:
        assert filters.add(table(a="x > 1", b="x > 2")) == Change(2, added=2)
        assert filters.add(table(b="x > 3", c="x > 4")) == Change(3, added=1, replaced=1)
        assert filters.remove(["a"]) == Change(4, removed=1)
        assert filters.replace(table(c="x > 5", d="x > 6")) == Change(
            5, added=1, replaced=1, removed=1
        )
        assert texts(filters) == {"c": "x > 5", "d": "x > 6"}
        assert (len(filters), filters.version) == (2, 5)

    def test_what_changes_nothing_makes_no_version(self, filters: FilterSet) -> None:
        filters.add(table(a="x > 1"))
        assert filters.add(table().cast(pa.schema([("id", "string"), ("filter", "string")]))) == (
            Change(2)
        )
        assert filters.remove(["z"], missing="skip") == Change(2)
        assert filters.remove([]) == Change(2)
        assert filters.compact() == Change(2)

    def test_before_anything_was_added(self, filters: FilterSet) -> None:
        assert filters.compact() == Change(1)
        assert filters.remove([], missing="raise") == Change(1)
        assert filters.remove([1, "b"][:1], missing="skip") == Change(1)
        with pytest.raises(KeyError, match=r"1 id is not in the set: 'a'"):
            filters.remove(["a"])
        for ask in (filters.filters, lambda: filters.pinned("q", 0)):
            with pytest.raises(ConfigError, match="nothing was added to the filters at file:"):
                ask()

    def test_old_versions_stay(self, filters: FilterSet) -> None:
        filters.add(table(a="x > 1"))
        filters.replace(table(b="x > 2"))
        assert [len(filters.filters(number)) for number in (2, 3)] == [1, 1]
        assert filters.filters(2) == filters.filters(2)
        assert filters.filters(2) != filters.filters()
        with pytest.raises(SnapshotError, match=r"version 9 .* is not there"):
            filters.filters(9)

    def test_compacted_it_is_one_part(self, filters: FilterSet) -> None:
        for id in "abc":
            filters.add(table(**{id: "x > 1"}))
        assert filters.filters().stats["parts"] == 3
        assert filters.compact() == Change(5)
        assert filters.filters().stats["parts"] == 1
        assert len(filters) == 3

    def test_bad_filters_refuse_all_or_are_left_out(self, filters: FilterSet) -> None:
        bad = pa.table({"id": ["a", "b", None], "filter": ["x >", "x > 1", "x > 2"]})
        with pytest.raises(FilterError, match="2 filters cannot be used: 'a'"):
            filters.add(bad)
        assert filters.version == 1
        change = filters.add(bad, on_bad_filter="skip")
        assert (change.added, [one.id for one in change.rejected]) == (1, ["a", None])
        assert texts(filters) == {"b": "x > 1"}
        with pytest.raises(ConfigError, match="on_bad_filter is"):
            filters.add(bad, on_bad_filter="maybe")  # type: ignore[arg-type]

    def test_an_id_twice(self, filters: FilterSet) -> None:
        twice = pa.table({"id": [5, 5], "filter": ["x > 1", "x > 2"]})
        with pytest.raises(ConfigError, match="1 id occurs more than once: 5 2 times"):
            filters.add(twice)

    def test_an_unknown_id_is_an_error_of_wherecast_that_names_it(self, filters: FilterSet) -> None:
        filters.add(table(a="x > 1"))
        with pytest.raises(WherecastError) as caught:
            filters.remove(["b"])
        assert str(caught.value) == "1 id is not in the set: 'b'"

    @pytest.mark.parametrize("keep", [True, "email", [1], {"email": 1}])
    def test_kept_columns_are_a_list_of_names(self, tmp_path: Path, keep: Any) -> None:
        with pytest.raises(ConfigError, match="keep is a list of columns"):
            FilterSet(tmp_path / "other", SCHEMA, keep=keep)

    def test_a_removal_names_what_is_missing_and_removes_nothing(self, filters: FilterSet) -> None:
        filters.add(table(a="x > 1", b="x > 2"))
        with pytest.raises(KeyError, match=r"4 ids are not in the set: 'v', 'w', 'y', …"):
            filters.remove(["a", "v", "w", "y", "z"])
        assert (len(filters), filters.version) == (2, 2)
        assert filters.remove(["a", "v"], missing="skip") == Change(3, removed=1)
        with pytest.raises(ConfigError, match="missing is 'raise' or 'skip'"):
            filters.remove(["b"], missing="ignore")  # type: ignore[arg-type]


class TestGiven:
    @pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame])
    def test_tables_of_all_kinds(self, filters: FilterSet, make: Any) -> None:
        filters.add(make({"id": ["a", "b"], "filter": ["x > 1", "x > 2"]}))
        filters.remove(make({"other": [1], "id": ["a"]}))
        assert texts(filters) == {"b": "x > 2"}

    @pytest.mark.parametrize(
        "ids", [("a", "a"), {"a"}, pa.array(["a"]), pa.chunked_array([["a"]]), pl.Series(["a"])]
    )
    def test_ids_of_all_kinds(self, filters: FilterSet, ids: Any) -> None:
        filters.add(table(a="x > 1", b="x > 2"))
        assert filters.remove(ids).removed == 1

    def test_columns_of_other_names_and_further_ones(self, uri: str) -> None:
        given = pa.table({"no": [1, 2], "clause": ["x > 1", "x > 2"], "id": ["p", "q"]})
        filters = FilterSet(uri, SCHEMA, keep=["clause", "id"], id="no", filter="clause")
        filters.add(given)
        filters.remove(pa.table({"no": [1]}))
        assert filters.filters().keep == ("clause", "id")
        part = filter_table(filters.filters().stored.parts[0], Place(filters.uri).open)
        assert [column.to_pylist() for column in part.columns] == [[2], ["x > 2"], ["x > 2"], ["q"]]

    def test_the_names_of_columns_are_known_when_it_is_opened_again(self, uri: str) -> None:
        FilterSet(uri, SCHEMA, id="no", filter="clause")
        given = pa.table({"no": [1, 2], "clause": ["x > 1", "x > 2"]})
        assert FilterSet(uri).add(given).added == 2
        other = pa.table({"id": [3], "clause": ["x > 3"]})
        assert FilterSet(uri, SCHEMA, id="id").add(other).added == 1
        assert FilterSet(uri).remove(pa.table({"id": [1], "no": [2]})).removed == 1
        assert texts(FilterSet(uri)) == {1: "x > 1", 3: "x > 3"}

    def test_which_column_has_the_ids_to_be_removed(self, filters: FilterSet) -> None:
        filters.add(table(a="x > 1", b="x > 2", c="x > 3"))
        for given, message in [
            ({"city": ["a"], "key": ["b"]}, "no column id; their columns are city, key"),
            ({"Id": ["a"], "ID": ["b"]}, "more than one column id; their columns are Id, ID"),
        ]:
            with pytest.raises(ConfigError, match=f"^the ids have {message}$"):
                filters.remove(pa.table(given))
        filters.remove(pa.table({"key": ["a"]}))
        filters.remove(pa.table({"key": ["c"], "ID": ["b"]}))
        assert texts(filters) == {"c": "x > 3"}

    @pytest.mark.parametrize(
        ("type_", "kept"),
        [("uint8", "smallint"), ("uint16", "int"), ("uint32", "bigint"), ("uint64", "bigint")],
    )
    def test_integers_without_a_sign(self, uri: str, type_: str, kept: str) -> None:
        filters = FilterSet(uri, SCHEMA, keep=["level"])
        numbers = pa.array([1, 200], pa.type_for_alias(type_))
        given = {"id": numbers, "filter": ["x > 1", "x > 2"], "level": numbers}
        filters.add(pa.table(given))
        assert {c.dataType.simpleString() for c in filters.filters().columns} == {kept}
        filters.remove(numbers[:1])
        assert texts(filters) == {200: "x > 2"}
        large = pa.array([1 << 63], pa.uint64())
        with pytest.raises(ConfigError, match="column id of the filters is uint64, in the set"):
            filters.add(pa.table({"id": large, "filter": ["x > 1"], "level": [1]}))

    def test_integers_of_any_width(self, uri: str) -> None:
        filters = FilterSet(uri, SCHEMA)
        for type_ in (pa.int16(), pa.uint8(), pa.int64(), pa.uint64()):
            for ids in (pa.array([1, 2], type_), pa.array([1, 2], type_).dictionary_encode()):
                filters.add(pa.table({"id": ids, "filter": ["x > 1", "x > 2"]}))
        assert filters.filters().columns[0].dataType.simpleString() == "smallint"
        large = pa.table({"id": [1 << 40], "filter": ["x > 1"]})
        with pytest.raises(ConfigError, match=r"column id of the filters is int64, .* int16: "):
            filters.add(large)

    def test_columns_that_do_not_fit(self, uri: str) -> None:
        filters = FilterSet(uri, SCHEMA, keep=["level"])
        filters.add(pa.table({"id": ["a"], "filter": ["x > 1"], "level": [1]}))
        for given, message in [
            ({"id": [1], "filter": ["x > 1"], "level": [1]}, "column id of the filters is int64"),
            ({"id": [1.5], "filter": ["x > 1"], "level": [1]}, "ids are strings or integers"),
            ({"id": ["a"], "filter": [5], "level": [1]}, "filters are strings, column filter is"),
            ({"id": ["a"], "filter": ["x > 1"], "level": ["high"]}, "level of the filters is str"),
            ({"id": ["a"], "filter": ["x > 1"]}, "no column level, only id, filter"),
        ]:
            with pytest.raises(ConfigError, match=message):
                filters.add(pa.table(given))
        with pytest.raises(ConfigError, match="filters are a DataFrame or an Arrow table, not d"):
            filters.add({"id": ["a"]})
        null = pa.table({"id": ["b"], "filter": ["x > 1"], "level": pa.nulls(1)})
        assert filters.add(null).added == 1

    def test_nulls_may_come_later(self, uri: str) -> None:
        filters = FilterSet(uri, SCHEMA, keep=["tags"])
        full = pa.list_(pa.field("element", pa.string(), nullable=False))
        fields = [pa.field(name, "string", nullable=False) for name in ("id", "filter")]
        given = pa.schema([*fields, pa.field("tags", full, nullable=False)])
        filters.add(pa.table({"id": ["a"], "filter": ["x > 1"], "tags": [["x"]]}, schema=given))
        filters.add(pa.table({"id": ["b"], "filter": ["x > 1"], "tags": [[None, "y"]]}))
        assert filters.filters().columns == [
            StructField("id", StringType()),
            StructField("tags", ArrayType(StringType())),
        ]
        filters.compact()
        part = filter_table(filters.filters().stored.parts[0], Place(filters.uri).open)
        assert part["tags"].to_pylist() == [["x"], [None, "y"]]

    def test_a_kept_column_without_a_type(self, uri: str) -> None:
        filters = FilterSet(uri, SCHEMA, keep=["level"])
        with pytest.raises(ConfigError, match="column level of the filters is null; cast it"):
            filters.add(pa.table({"id": ["a"], "filter": ["x > 1"], "level": pa.nulls(1)}))

    def test_kept_times_and_structs(self, uri: str) -> None:
        filters = FilterSet(uri, SCHEMA, keep=["since", "who"])
        since, who = datetime(2026, 5, 1, tzinfo=UTC), {"name": "ana", "tags": ["x"]}
        for id in "abcde":
            filters.add(pa.table({"id": [id], "filter": ["x > 1"], "since": [since], "who": [who]}))
        filters.compact()
        part = filter_table(filters.filters().stored.parts[0], Place(filters.uri).open)
        assert part["since"].to_pylist() == [since] * 5
        assert part["who"].to_pylist() == [who] * 5

    @pytest.mark.parametrize(
        "ids", [5, "abc", b"abc", [1, "a"], [None], [1.5], [True], [1 << 70], None]
    )
    def test_what_is_no_id(self, filters: FilterSet, ids: Any) -> None:
        filters.add(table(a="x > 1"))
        with pytest.raises(ConfigError, match="ids are"):
            filters.remove(ids, missing="skip")


class TestPinned:
    def test_a_batch_that_is_repeated_uses_the_same_version(self, filters: FilterSet) -> None:
        filters.add(table(a="x > 1"))
        first = filters.pinned("alerts", 0)
        filters.add(table(b="x > 2"))
        assert FilterSet(filters.uri).pinned("alerts", 0) == first == filters.filters(2)
        assert filters.pinned("alerts", 1) == filters.filters(3)


class TestCost:
    def test_one_more_filter_costs_a_few_files(self, filters: FilterSet, uri: str) -> None:
        many = {"id": list(range(30_000)), "filter": [f"x > {n}" for n in range(30_000)]}
        filters.add(pa.table(many))
        before = {path: path.stat().st_size for path in Path(uri).rglob("*") if path.is_file()}
        counters.clear()
        filters.add(pa.table({"id": [-1], "filter": ["x > 5"]}))
        new = [path for path in Path(uri).rglob("*") if path.is_file() and path not in before]
        assert len(new) == 3  # a version, an index and a text
        assert sum(path.stat().st_size for path in new) < 30_000 < max(before.values())
        assert (counters["parts stored"], counters["parts mapped"]) == (1, 1)


def add_all(uri: str, name: str, count: int, done: Any) -> None:
    """What a writer does: one filter at a time, again where another was faster."""
    filters, conflicts, versions = FilterSet(uri), 0, []
    for number in range(count):
        while True:
            try:
                versions.append(filters.add(table(**{f"{name}{number}": "x > 1"})).version)
                break
            except ConflictError:
                conflicts += 1
    done.put((name, versions, conflicts))


class TestWriters:
    def test_of_racing_processes_each_version_has_one(self, filters: FilterSet) -> None:
        done = FORKED.SimpleQueue()
        writers = [FORKED.Process(target=add_all, args=(filters.uri, n, 6, done)) for n in "pqr"]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(120)
        found = [done.get() for _ in writers]

        assert sorted(v for _, versions, _ in found for v in versions) == list(range(2, 20))
        assert set(texts(filters)) == {f"{name}{number}" for name in "pqr" for number in range(6)}

    @pytest.mark.parametrize("round_", range(3))
    def test_a_writer_that_is_killed_leaves_a_set_that_can_be_read(
        self, filters: FilterSet, round_: int
    ) -> None:
        filters.add(table(first="x > 1"))
        done = FORKED.SimpleQueue()
        writer = FORKED.Process(target=add_all, args=(filters.uri, "w", 10_000, done))
        writer.start()
        reader, wanted = FilterSet(filters.uri), 3 + 2 * round_
        until("the writer has made some versions", lambda: reader.version >= wanted)
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()

        known = texts(FilterSet(filters.uri))
        version = filters.version
        assert known.keys() == {"first"} | {f"w{n}" for n in range(version - 2)}
        assert filters.add(table(last="x > 1")) == Change(version + 1, added=1)


@pytest.mark.release
def test_on_s3(s3: str) -> None:
    uri = f"{s3}/{uuid.uuid4().hex}/set"
    filters = FilterSet(uri, SCHEMA)
    filters.add(table(a="x > 1", b="city LIKE 'Z%'"))
    first = filters.pinned("q", 0)
    filters.remove(["a"])
    assert FilterSet(uri).pinned("q", 0) == first
    assert texts(FilterSet(uri)) == {"b": "city LIKE 'Z%'"}
    other = FilterSet(uri)
    newest = other._newest()
    filters.add(table(c="x > 3"))
    assert newest.filters is not None
    with pytest.raises(ConflictError):
        other._commit(newest, newest.filters, filters._newest().counts)
    with pytest.raises(ConfigError, match="ignores conditional writes"):
        FilterSet("s3://careless/set", SCHEMA)


def test_a_full_disk_changes_nothing_and_heals(tmp_path: Path) -> None:
    mounted = 'mount -t tmpfs -o size=1m none "$3" || exit 77; exec "$1" -c "$2" "$3"'
    command = ["unshare", "-rm", "sh", "-c", mounted, "sh", sys.executable, FULL_DISK]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True)
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    full, first, unwritable, second = done.stdout.splitlines()
    assert full.startswith(f"cannot write {tmp_path}/blobs/")
    assert full.endswith("No space left on device")
    assert first.startswith("Change(version=2, added=1,")
    assert unwritable.startswith(f"{tmp_path}/wherecast-")
    assert unwritable.endswith("cannot be written: No space left on device")
    assert second.startswith("Change(version=3, added=1, replaced=1")


def test_filters_can_be_pickled(filters: FilterSet) -> None:
    filters.add(table(a="x > 1"))
    again = pickle.loads(pickle.dumps(filters.filters()))
    assert again == filters.filters()

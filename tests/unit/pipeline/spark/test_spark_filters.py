"""`Filters`: saved, loaded, pickled, and damaged, without a Spark session."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from tests.unit.pipeline.filters.test_stored_filters import flip
from wherecast import ConfigError, FilterError, Schema, SnapshotError
from wherecast.pipeline.filters.blob_location import Place, PlacedFilters
from wherecast.pipeline.filters.filter_loading import filter_table
from wherecast.pipeline.filters.filter_table import read
from wherecast.pipeline.filters.loaded_filters import LoadedFilters
from wherecast.pipeline.filters.stored_filters import Folder, StoredFilters, counters, store_filters
from wherecast.pipeline.spark.spark_filters import Filters, load_filters, on_schema
from wherecast.store.blobs.blobs import open_blobs

SCHEMA = Schema.from_dict({"x": "float", "city": "string"})
COLUMNS = StructType([StructField("id", IntegerType()), StructField("email", StringType())])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for caches of this test alone."""
    from wherecast.store.blobs.host_cache import HostCache

    cache = HostCache(tmp_path / "cache")
    monkeypatch.setattr("wherecast.pipeline.filters.blob_location.host_cache", lambda: cache)
    return tmp_path / "cache"


def compiled(directory: Path, *texts: str) -> Filters:
    columns = {"id": pa.array(range(len(texts)), pa.int32()), "filter": list(texts)}
    given = pa.table({**columns, "email": [f"{n}@example.org" for n in range(len(texts))]})
    empty = StoredFilters(SCHEMA, False, COLUMNS.json(), "int32", ())
    blobs = open_blobs(directory)
    return Filters(store_filters([read(given, SCHEMA)], empty, "skip", Folder(blobs)), blobs.uri)


@pytest.fixture
def filters(tmp_path: Path) -> Filters:
    # Content of this test alone, so that nothing is mapped already.
    return compiled(tmp_path / "own", "x > 1", f"city = '{tmp_path}'", "x >", "x > 5 AND x < 2")


def loaded(filters: Filters) -> LoadedFilters:
    return PlacedFilters(filters.stored, Place(filters.uri)).load()


class TestSaving:
    def test_what_was_saved_is_loaded(self, filters: Filters, tmp_path: Path) -> None:
        saved = filters.save(tmp_path / "saved")
        found = load_filters(str(tmp_path / "saved"))
        assert found == saved
        assert found.stored == filters.stored
        assert (len(found), found.keep) == (3, ("email",))
        assert repr(found) == "Filters(filters=3, rejected=1)"
        assert found.columns == COLUMNS.fields
        assert found.stats == filters.stats
        assert found.stats["never_match"] == 1

    def test_the_saved_ones_need_only_their_own_files(
        self, filters: Filters, tmp_path: Path
    ) -> None:
        filters.save(tmp_path / "saved")
        for file in (tmp_path / "own").rglob("*.*"):
            file.unlink()
        found = load_filters(tmp_path / "saved")
        assert loaded(found).ids.to_pylist() == [0, 1, 3]
        texts = filter_table(found.stored.parts[0], Place(found.uri).open)
        assert texts["email"].to_pylist() == ["0@example.org", "1@example.org", "3@example.org"]
        assert found.save(tmp_path / "again").stored == filters.stored

    def test_saved_twice_they_are_the_same(self, filters: Filters, tmp_path: Path) -> None:
        assert filters.save(tmp_path / "saved") == filters.save(tmp_path / "saved")

    def test_other_filters_are_left_alone(self, filters: Filters, tmp_path: Path) -> None:
        filters.save(tmp_path / "saved")
        before = sorted(tmp_path.joinpath("saved").rglob("*"))
        other = compiled(tmp_path / "other", "x > 7")
        with pytest.raises(ConfigError, match=r"has other filters already; a FilterSet can change"):
            other.save(tmp_path / "saved")
        assert sorted(tmp_path.joinpath("saved").rglob("*")) == before

    def test_a_place_that_cannot_be_written(self, filters: Filters) -> None:
        with pytest.raises(ConfigError, match=r"^cannot write /proc/none/"):
            filters.save("/proc/none/filters")

    def test_no_filters_can_be_saved(self, tmp_path: Path) -> None:
        none = compiled(tmp_path / "own")
        assert len(load_filters(none.save(tmp_path / "saved").uri)) == 0


class TestLoading:
    def test_there_are_none(self, tmp_path: Path) -> None:
        with pytest.raises(SnapshotError, match=r"^there are no filters at .*/none$"):
            load_filters(tmp_path / "none")

    def test_a_damaged_manifest(self, filters: Filters, tmp_path: Path) -> None:
        filters.save(tmp_path / "saved")
        flip(tmp_path / "saved" / "filters.json")
        with pytest.raises(SnapshotError, match=r"^file:.*/saved/filters.json is damaged$"):
            load_filters(tmp_path / "saved")

    def test_a_newer_manifest(self, filters: Filters, tmp_path: Path) -> None:
        filters.save(tmp_path / "saved")
        manifest = tmp_path / "saved" / "filters.json"
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 7}))
        with pytest.raises(SnapshotError, match=r"has format 7, .* a newer Wherecast wrote it$"):
            load_filters(tmp_path / "saved")

    @pytest.mark.parametrize("kind", ["index", "arrow"])
    def test_a_damaged_file(self, filters: Filters, tmp_path: Path, kind: str) -> None:
        filters.save(tmp_path / "saved")
        for file in (tmp_path / "saved" / "blobs").glob(f"*.{kind}"):
            flip(file)
        with pytest.raises(SnapshotError, match=r"is damaged: file:.*/saved/blobs/.* gave other"):
            loaded(load_filters(tmp_path / "saved"))

    def test_a_missing_file(self, filters: Filters, tmp_path: Path) -> None:
        filters.save(tmp_path / "saved")
        next((tmp_path / "saved" / "blobs").glob("*.index")).unlink()
        with pytest.raises(SnapshotError, match=r"\.index is missing in file:.*/saved; the filt"):
            loaded(load_filters(tmp_path / "saved"))


def test_pickled_they_work_in_another_process(filters: Filters, tmp_path: Path) -> None:
    (tmp_path / "pickled").write_bytes(pickle.dumps(filters))
    program = (
        "import pickle, sys\n"
        "from wherecast.pipeline.filters.blob_location import Place, PlacedFilters\n"
        "f = pickle.load(open(sys.argv[1], 'rb'));"
        "print(PlacedFilters(f.stored, Place(f.uri)).load().ids.to_pylist())"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "pickled")]
    assert subprocess.run(command, check=True, capture_output=True).stdout == b"[0, 1, 3]\n"


class TestAnotherSchema:
    def test_filters_are_read_again_once(
        self, filters: Filters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WHERECAST_CACHE_DIR", str(tmp_path / "home"))
        schema = Schema.from_dict(
            {"x": {"type": "float", "min": 0, "max": 10, "step": 1}, "city": "string"}
        )
        counters.clear()
        found = on_schema(filters, schema)
        assert (found.stored.enforced, found.stored.schema) == (True, schema)
        assert (found.keep, len(found)) == (("email",), 3)
        assert on_schema(filters, schema) == found
        assert on_schema(found, schema) is found
        assert counters["parts stored"] == 1

    def test_filters_that_do_not_fit_are_named(self, filters: Filters) -> None:
        with pytest.raises(FilterError, match="2 filters cannot be used: 0: "):
            on_schema(filters, Schema.from_dict({"city": "string"}))

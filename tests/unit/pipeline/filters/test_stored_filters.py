"""Filters as blobs: what is stored, loaded again, and kept mapped."""

import json
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from wherecast import ConfigError, FilterError, Schema, SnapshotError
from wherecast.pipeline.filters import filter_loading
from wherecast.pipeline.filters.blob_location import Place, blobs_at
from wherecast.pipeline.filters.filter_loading import (
    filter_table,
    load,
    load_part,
    one_naming,
    read_batch,
)
from wherecast.pipeline.filters.filter_table import read
from wherecast.pipeline.filters.loaded_filters import LoadedFilters
from wherecast.pipeline.filters.manifests import packed, unpacked
from wherecast.pipeline.filters.stored_filters import (
    Folder,
    StoredFilters,
    counters,
    schema_dict,
    schema_of,
    store_filters,
    with_hidden,
)
from wherecast.store.blobs.blobs import open_blobs
from wherecast.store.blobs.host_cache import HostCache

SCHEMA = Schema.from_dict({"x": "float", "city": "string"})
FILTERS = pa.table(
    {
        "id": pa.array([7, 3, 5], pa.int32()),
        "filter": ["x > 1", "city LIKE 'Z%'", "x > 5 AND x < 2"],
        "email": ["g", None, "e"],
    }
)
EMPTY = StoredFilters(SCHEMA, False, "[]", "int32", ())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostCache:
    """A cache of this test alone, and a process that has loaded nothing."""
    cache = HostCache(tmp_path / "cache")
    monkeypatch.setattr("wherecast.pipeline.filters.blob_location.host_cache", lambda: cache)
    monkeypatch.setattr(filter_loading, "_parts", type(filter_loading._parts)())
    monkeypatch.setattr(filter_loading, "_filters", type(filter_loading._filters)())
    return cache


@pytest.fixture
def folder(tmp_path: Path, cache: HostCache) -> Folder:
    return Folder(open_blobs(tmp_path / "store"))


@pytest.fixture
def place(folder: Folder) -> Place:
    return Place(folder.blobs.uri)


@pytest.fixture
def stored(folder: Folder) -> StoredFilters:
    return store_filters([read(FILTERS, SCHEMA)], EMPTY, "raise", folder)


def matched(filters: LoadedFilters, *rows: dict[str, object]) -> list[list[object]]:
    types = {"x": pa.float64(), "city": pa.string()}
    fields = [(attribute.name, types[attribute.name]) for attribute in filters.schema]
    batch = pa.RecordBatch.from_pylist(list(rows), schema=pa.schema(fields))
    found = filters.parts.match(batch)
    ids = filters.ids.take(pa.array(found.indices)).to_pylist()
    return [ids[a:b] for a, b in zip(found.offsets, found.offsets[1:], strict=False)]


class TestStoring:
    def test_equal_ones_have_one_hash(self, stored: StoredFilters) -> None:
        again = StoredFilters.from_dict(json.loads(json.dumps(stored.to_dict())))
        assert {stored: "first", again: "second"} == {stored: "second"}
        assert hash(EMPTY) != hash(stored)

    def test_what_is_said_of_filters(self, stored: StoredFilters) -> None:
        (part,) = stored.parts
        assert (len(stored), len(part), part.filters, part.never) == (3, 3, 3, 1)
        assert [attribute.name for attribute in stored.named] == ["city", "x"]
        assert set(stored.mapped) | {part.texts} == set(stored.blobs)
        assert part.kept in stored.mapped

    def test_the_same_filters_are_the_same_blobs(
        self, stored: StoredFilters, folder: Folder
    ) -> None:
        before = folder.blobs.names("")
        again = store_filters([read(FILTERS, SCHEMA)], EMPTY, "raise", folder)
        assert again == stored
        assert folder.blobs.names("") == before

    def test_in_pieces_as_in_one(self, stored: StoredFilters, folder: Folder) -> None:
        pieces = [read(FILTERS.slice(start, 1), SCHEMA) for start in range(3)]
        assert store_filters(pieces, EMPTY, "raise", folder) == stored

    def test_no_filters_are_no_part(self, folder: Folder, place: Place) -> None:
        for parts in ([], [read(FILTERS.slice(0, 0), SCHEMA)]):
            none = store_filters(parts, EMPTY, "raise", folder)
            assert (none.parts, len(none), none.blobs) == ((), 0, ())
            assert len(load(none, place.open)) == 0

    def test_bad_ones_are_stored_too(self, folder: Folder, place: Place) -> None:
        bad = pa.table({"id": ["a", None, "c", "d"], "filter": ["x >", "x > 1", None, "x > 2"]})
        with pytest.raises(FilterError, match="3 filters cannot be used"):
            store_filters([read(bad, SCHEMA)], EMPTY, "raise", folder)
        empty = StoredFilters(SCHEMA, False, "[]", "string", ())
        found = store_filters([read(bad, SCHEMA)], empty, "skip", folder)
        assert (len(found), found.rejected_count) == (1, 3)
        assert found.rejected is not None
        rows = read_batch(found.rejected, place.open).to_pylist()
        assert [(row["id"], row["filter"]) for row in rows] == [
            ("a", "x >"),
            ("c", None),
            (None, "x > 1"),
        ]
        assert all(row["error"] for row in rows)

    def test_an_id_twice_is_refused(self, folder: Folder) -> None:
        with pytest.raises(ConfigError, match="3 ids occur more than once"):
            store_filters([read(FILTERS, SCHEMA)] * 2, EMPTY, "raise", folder)
        assert folder.blobs.names("") == []


class TestManifest:
    def test_a_manifest_has_all_of_it(self, stored: StoredFilters) -> None:
        again = StoredFilters.from_dict(unpacked(packed(stored.to_dict()), "here"))
        assert again == stored
        assert again.key == stored.key

    def test_pickled_it_is_the_same(self, stored: StoredFilters) -> None:
        assert stored.key
        assert pickle.loads(pickle.dumps(stored)) == stored
        assert len(pickle.dumps(stored)) < 5_000

    @pytest.mark.parametrize(
        "given",
        [
            {},
            {"price": {"type": "decimal", "scale": 2, "min": "0.10"}},
            {"at": "timestamp", "a.b": {"type": "int", "min": -5, "step": 5}},
            {"z": {"type": "float", "step": 0.1}, "a": {"type": "string", "values": ["y", "x"]}},
        ],
    )
    @pytest.mark.parametrize("open_", [True, False])
    def test_schemas_come_back(self, given: dict[str, object], open_: bool) -> None:
        schema = Schema.from_dict(given, open=open_) if given else Schema((), open_)
        again = schema_of(unpacked(packed(schema_dict(schema)), "here"))
        assert again == schema
        assert again.names == schema.names
        odd = Schema(schema.attributes, schema.open, {"tags": "array<int>"})
        assert schema_of(schema_dict(odd)).unsupported == {"tags": "array<int>"}


class TestLoading:
    def test_filters_match_with_ids_as_they_came(self, stored: StoredFilters, place: Place) -> None:
        found = load(stored, place.open)
        assert found.ids.type == pa.int32()
        assert matched(found, {"x": 2.0, "city": "Zadar"}, {"x": None}) == [[3, 7], []]
        assert found.kept.to_pydict() == {"email": [None, "e", "g"]}

    def test_a_process_maps_once(self, stored: StoredFilters, place: Place) -> None:
        counters.clear()
        first = load(stored, place.open)
        again = pickle.loads(pickle.dumps(stored))
        assert load(again, place.open) is first
        assert (counters["parts mapped"], counters["filters loaded"]) == (1, 1)

    def test_no_filters_are_kept_as_well(self, folder: Folder, place: Place) -> None:
        counters.clear()
        assert load(EMPTY, place.open) is load(EMPTY, place.open)
        assert counters["filters loaded"] == 1

    def test_no_filters_have_the_columns_of_some(self, folder: Folder, place: Place) -> None:
        fields = [("id", "integer"), ("email", "string"), ("since", "date")]
        columns = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in fields]
        shown = json.dumps({"type": "struct", "fields": columns})
        found = load(StoredFilters(SCHEMA, False, shown, "int32", ()), place.open)
        assert found.kept.schema == pa.schema([("email", pa.string()), ("since", pa.date32())])
        assert (found.kept.num_rows, found.ids.type) == (0, pa.int32())

    def test_hidden_ones_share_the_mapped_part(
        self, stored: StoredFilters, folder: Folder, place: Place
    ) -> None:
        load(stored, place.open)
        counters.clear()
        whole = load_part(stored.parts[0], place.open)
        part = with_hidden(stored.parts[0], whole.without(np.array([2])), folder)
        less = StoredFilters(SCHEMA, False, "[]", "int32", (part,))
        assert (len(part), len(less)) == (2, 2)
        assert matched(load(less, place.open), {"x": 2.0, "city": "Zadar"}) == [[3]]
        assert counters["parts mapped"] == 0
        assert filter_table(part, place.open).to_pydict() == {
            "id": [3, 5],
            "filter": ["city LIKE 'Z%'", "x > 5 AND x < 2"],
            "email": [None, "e"],
        }

    def test_hidden_ones_name_nothing(
        self, stored: StoredFilters, folder: Folder, place: Place
    ) -> None:
        whole = load_part(stored.parts[0], place.open)
        for places, named, never in (([2], ["city"], 1), ([0, 1], ["x"], 0)):
            part = with_hidden(stored.parts[0], whole.without(np.array(places)), folder)
            less = StoredFilters(SCHEMA, False, "[]", "int32", (part,))
            assert [attribute.name for attribute in less.named] == named
            assert load(less, place.open).schema.names == tuple(named)
            assert part.never == never
            assert one_naming(less, ({"x", "city"} - set(named)).pop(), place.open) is None

    def test_kept_columns_may_be_named_like_those_of_a_table(
        self, folder: Folder, place: Place
    ) -> None:
        columns = [FILTERS["id"], FILTERS["filter"], FILTERS["filter"], FILTERS["email"]]
        given = pa.Table.from_arrays(columns, ["id", "filter", "filter", "id"])
        stored = store_filters([read(given, SCHEMA)], EMPTY, "raise", folder)
        found = filter_table(stored.parts[0], place.open)
        assert found.column(0).to_pylist() == [3, 5, 7]
        assert found.column(3).to_pylist() == [None, "e", "g"]

    def test_a_filter_is_found_by_what_it_names(self, stored: StoredFilters, place: Place) -> None:
        assert one_naming(stored, "city", place.open) == 3
        assert one_naming(stored, "x", place.open) == 7
        assert one_naming(stored, "y", place.open) is None


class TestFiles:
    def test_one_that_left_the_cache_is_asked_for_again(
        self, stored: StoredFilters, place: Place, tmp_path: Path
    ) -> None:
        asked: list[str] = []

        def open_blob(name: str) -> Path:
            asked.append(name)
            return tmp_path / "gone" if asked.count(name) < 3 else place.open(name)

        assert len(load(stored, open_blob)) == 3
        assert {asked.count(name) for name in asked} == {3}

    def test_one_that_is_never_there_is_an_error(
        self, stored: StoredFilters, tmp_path: Path
    ) -> None:
        with pytest.raises(SnapshotError):
            load(stored, lambda name: tmp_path / "gone")

    def test_a_damaged_file_is_named_with_its_place(
        self, stored: StoredFilters, place: Place, folder: Folder
    ) -> None:
        index = stored.parts[0].index
        flip(folder.blobs.local_path(index))
        with pytest.raises(SnapshotError) as caught:
            load(stored, place.open)
        assert f"is damaged: {place.uri}/{index} gave other bytes" in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_damaged_copy_is_fetched_again(
        self, stored: StoredFilters, cache: HostCache, tmp_path: Path
    ) -> None:
        place = Place(f"local://{tmp_path}/store")  # read like a remote store
        path = place.open(stored.parts[0].index)
        assert path.parent == cache.directory
        flip(path)
        assert matched(load(stored, place.open), {"x": 2.0}) == [[7]]
        assert cache.fetches == 3

    def test_a_missing_file_is_named(
        self, stored: StoredFilters, place: Place, folder: Folder
    ) -> None:
        folder.blobs.delete(stored.parts[0].index)
        with pytest.raises(SnapshotError, match=r"\.index is missing in file:.*; the filters are"):
            load_part(stored.parts[0], place.open)

    def test_a_place_that_this_host_does_not_have(
        self, stored: StoredFilters, tmp_path: Path
    ) -> None:
        with pytest.raises(SnapshotError, match=r"as seen from this host: save them where"):
            load_part(stored.parts[0], Place((tmp_path / "elsewhere").as_uri()).open)

    def test_without_a_cache_files_are_used_where_they_are(
        self, stored: StoredFilters, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        nowhere = HostCache(Path("/proc/nowhere"))
        monkeypatch.setattr("wherecast.pipeline.filters.blob_location.host_cache", lambda: nowhere)
        assert matched(load(stored, place.open), {"x": 2.0}) == [[7]]

    def test_a_cache_that_cannot_be_written_is_told_where_a_copy_is_needed(
        self, stored: StoredFilters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        nowhere = HostCache(Path("/proc/nowhere"))
        monkeypatch.setattr("wherecast.pipeline.filters.blob_location.host_cache", lambda: nowhere)
        with pytest.raises(SnapshotError, match=r"in /proc/nowhere: .*WHERECAST_CACHE_DIR"):
            load(stored, Place(f"local://{tmp_path}/store").open)

    def test_a_relative_path_means_the_directory_of_that_moment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            monkeypatch.chdir(tmp_path / name)
            found.append(blobs_at("filters").uri)
        assert found == [(tmp_path / name / "filters").as_uri() for name in ("one", "two")]


def flip(path: Path | None) -> None:
    assert path is not None
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)

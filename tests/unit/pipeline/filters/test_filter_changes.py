"""Changes of stored filters: what comes out, and how little is written for it."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from tests.seeds import random_of
from wherecast import Schema
from wherecast.matching.run_tiers import TIER_FILTERS
from wherecast.pipeline.filters import filter_changes
from wherecast.pipeline.filters.blob_location import Place
from wherecast.pipeline.filters.filter_changes import ChangeCounts
from wherecast.pipeline.filters.filter_loading import filter_table, load
from wherecast.pipeline.filters.filter_table import FilterPart
from wherecast.pipeline.filters.loaded_filters import compile_part
from wherecast.pipeline.filters.stored_filters import Folder, StoredFilters, counters
from wherecast.store.blobs.blobs import open_blobs

SCHEMA = Schema.from_dict({"x": "int"})
COLUMNS = StructType([StructField("id", LongType()), StructField("word", StringType())]).json()
EMPTY = StoredFilters(SCHEMA, False, COLUMNS, "int64", ())


def part(*ids: int, word: str = "a") -> FilterPart:
    columns = {
        "id": pa.array(ids, pa.int64()),
        "filter": pa.array([f"x = {id}" for id in ids], pa.string()),
        "word": pa.array([f"{word}{id}" for id in ids], pa.string()),
    }
    return compile_part(pa.table(columns), SCHEMA)[0]


class Scene:
    """Stored filters that change, and the bytes that are written for it."""

    def __init__(self, path: Path) -> None:
        self.blobs = open_blobs(path)
        self.folder, self.open = Folder(self.blobs), Place(self.blobs.uri).open
        self.stored = EMPTY
        self.tier_filters = TIER_FILTERS

    def add(self, *ids: int, word: str = "a") -> ChangeCounts:
        new = part(*ids, word=word)
        self.stored, counts = filter_changes.add(
            self.stored, new, self.folder, self.open, self.tier_filters
        )
        return counts

    def remove(self, *ids: int) -> ChangeCounts:
        given = pa.array(ids, pa.int64())
        self.stored, counts = filter_changes.remove(
            self.stored, given, self.folder, self.open, self.tier_filters
        )
        return counts

    def words(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for stored in self.stored.parts:
            rows = filter_table(stored, self.open).to_pylist()
            assert all(row["filter"] == f"x = {row['id']}" for row in rows)
            assert not found.keys() & {row["id"] for row in rows}
            found |= {row["id"]: row["word"] for row in rows}
        return found

    def matches(self, x: int) -> list[str]:
        filters = load(self.stored, self.open)
        batch = pa.record_batch([pa.array([x], pa.int64())], ["x"])
        return filters.kept["word"].take(pa.array(filters.parts.match(batch).indices)).to_pylist()

    def files(self) -> dict[str, int]:
        paths = [self.blobs.local_path(name) for name in self.blobs.names("")]
        return {str(path): path.stat().st_size for path in paths if path is not None}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "store")


def test_what_is_added_takes_the_place_of_what_is_there(scene: Scene) -> None:
    assert scene.add(3, 1, 2) == ChangeCounts(added=3)
    assert scene.add(2, 9, word="b") == ChangeCounts(added=1, replaced=1)
    assert scene.words() == {1: "a1", 2: "b2", 3: "a3", 9: "b9"}
    assert (len(scene.stored), scene.matches(2), scene.matches(3)) == (4, ["b2"], ["a3"])


def test_what_is_removed_is_gone(scene: Scene) -> None:
    scene.add(1, 2, 3)
    scene.add(4)
    assert scene.remove(2, 4, 77) == ChangeCounts(removed=2)
    assert scene.words() == {1: "a1", 3: "a3"}
    assert (scene.matches(2), scene.matches(1)) == ([], ["a1"])
    assert scene.remove(1, 3) == ChangeCounts(removed=2)
    assert (scene.stored.parts, len(scene.stored)) == ((), 0)


def test_what_was_removed_can_be_added_again(scene: Scene) -> None:
    scene.add(1, 2, 3)
    scene.remove(2)
    assert scene.add(2, word="b") == ChangeCounts(added=1)
    assert scene.matches(2) == ["b2"]


def test_all_are_replaced(scene: Scene) -> None:
    scene.add(1, 2, 3)
    scene.add(4)
    new = part(3, 4, 5, word="b")
    scene.stored, counts = filter_changes.replace_all(scene.stored, new, scene.folder, scene.open)
    assert counts == ChangeCounts(added=1, replaced=2, removed=2)
    assert scene.words() == {3: "b3", 4: "b4", 5: "b5"}


def test_missing_ids_are_those_that_no_filter_has(scene: Scene) -> None:
    scene.add(1, 2, 3)
    scene.add(4, 5)
    scene.remove(2)
    given = pa.array([5, 2, 1, 8, 4], pa.int64())
    found = filter_changes.missing(scene.stored, given, scene.open)
    assert found.to_pylist() == [2, 8]
    other = filter_changes.missing(scene.stored, pa.array(["5"], pa.large_string()), scene.open)
    assert other.to_pylist() == ["5"]


def test_compacted_they_are_one_part(scene: Scene) -> None:
    scene.add(1, 2, 3)
    scene.add(4, 2, word="b")
    scene.remove(3)
    before = scene.words()
    scene.stored = filter_changes.compact(scene.stored, scene.folder, scene.open)
    (only,) = scene.stored.parts
    assert (only.hidden, only.filters, scene.words()) == (None, 3, before)
    assert filter_changes.compact(scene.stored, scene.folder, scene.open) is scene.stored
    scene.remove(1, 2, 4)
    assert filter_changes.compact(scene.stored, scene.folder, scene.open).parts == ()


class TestCost:
    def test_adding_one_to_many_writes_little(self, scene: Scene) -> None:
        scene.add(*range(50_000))
        before = scene.files()
        large = max(before.values())
        counters.clear()

        scene.add(70_000)

        new = {name: size for name, size in scene.files().items() if name not in before}
        assert len(new) == 3  # the index, the texts and the kept columns of one filter
        assert sum(new.values()) < 30_000 < large
        assert counters["parts stored"] == 1

    def test_replacing_one_of_many_hides_one(self, scene: Scene) -> None:
        scene.add(*range(50_000))
        before = scene.files()
        scene.add(25_000, word="b")
        new = {name: size for name, size in scene.files().items() if name not in before}
        assert len(new) == 4
        assert sum(new.values()) < 30_000
        assert scene.matches(25_000) == ["b25000"]

    def test_a_new_version_maps_only_what_is_new(self, scene: Scene) -> None:
        scene.add(*range(10_000))
        load(scene.stored, scene.open)
        counters.clear()
        for id in range(3):
            scene.add(20_000 + id)
            load(scene.stored, scene.open)
        assert counters["filters loaded"] == 3
        assert counters["parts mapped"] == 3

    def test_parts_stay_few_and_filters_are_seldom_written_again(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        scene.tier_filters = 8
        written = 0
        store = filter_changes.store_part

        def counted(given: FilterPart, folder: Folder) -> object:
            nonlocal written
            written += len(given.part)
            return store(given, folder)

        monkeypatch.setattr(filter_changes, "store_part", counted)
        steps = 60
        for id in range(steps):
            scene.add(id)
            tiers = 1 + int(np.ceil(np.log(max(id, 8) / 8) / np.log(4) + 1e-9))
            assert len(scene.stored.parts) <= 3 * (tiers + 1)
        assert len(scene.words()) == steps
        # In the lowest tier a filter is written at most 8 times, in each further one once.
        assert written <= steps * (8 + 3)

    def test_a_part_of_which_most_is_hidden_is_written_again(self, scene: Scene) -> None:
        scene.add(*range(100))
        scene.remove(*range(50))
        assert [part.filters for part in scene.stored.parts] == [100]
        scene.remove(50)
        assert [(part.filters, part.hidden) for part in scene.stored.parts] == [(49, None)]


@pytest.mark.parametrize("job", range(2))
def test_random_changes_beside_a_dict(scene: Scene, job: int) -> None:
    scene.tier_filters = 4
    rng, model = random_of(job), dict[int, str]()
    for step in range(30):
        ids = rng.sample(range(30), rng.randint(1, 8))
        there = sum(id in model for id in ids)
        if rng.random() < 0.6:
            counts = scene.add(*ids, word=f"{step}-")
            model |= {id: f"{step}-{id}" for id in ids}
            assert counts == ChangeCounts(len(ids) - there, there)
        else:
            assert scene.remove(*ids) == ChangeCounts(removed=there)
            model = {id: word for id, word in model.items() if id not in ids}
        assert scene.words() == model
        assert len(scene.stored) == len(model)
        x = rng.randrange(30)
        assert scene.matches(x) == ([model[x]] if x in model else [])

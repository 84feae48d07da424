"""Versions of a set: who makes one, what is kept, and which one a micro-batch uses."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wherecast import ConflictError, Schema, SnapshotError
from wherecast.pipeline.filters.filter_changes import ChangeCounts
from wherecast.pipeline.filters.filter_versions import FilterVersions, SetOptions
from wherecast.pipeline.filters.stored_filters import StoredFilters, StoredPart
from wherecast.store.blobs.blobs import Blobs, open_blobs

SCHEMA = Schema.from_dict(
    {
        "z": {"type": "float", "min": 0, "max": 100, "step": 0.5},
        "a": {"type": "decimal", "scale": 2, "min": "0.01"},
        "level": {"type": "string", "values": ["low", "high"]},
        "seen": "timestamp",
    },
    open=True,
)
KEEP_FOR_S = 600.0


class Clock:
    now_s = 1e9

    def __call__(self) -> float:
        return self.now_s


class Scene:
    """A set whose versions have one small part each, and share some."""

    def __init__(self, path: Path) -> None:
        self.path, self.clock = path, Clock()
        self.blobs = open_blobs(path)
        self.versions = self.writer()
        self.versions.make(SetOptions(SCHEMA, True, ("email",), KEEP_FOR_S))

    def writer(self, blobs: Blobs | None = None) -> FilterVersions:
        return FilterVersions(blobs or open_blobs(self.path), self.clock)

    def commit(self, versions: FilterVersions | None = None, keep: int = 1) -> int:
        """A version with a new part and the last few of the version before."""
        versions = versions or self.versions
        before = versions.read(versions.latest())
        parts = () if before.filters is None else before.filters.parts[-keep:]
        number = before.number + 1
        new = self.part(versions, number)
        filters = StoredFilters(SCHEMA, True, "[]", "int64", (*parts, new))
        return versions.commit(before, filters, ChangeCounts(1)).number

    def part(self, versions: FilterVersions, number: int, content: str = "") -> StoredPart:
        names = []
        for kind in ("index", "texts"):
            file = self.path.parent / "file"
            file.write_text(f"{number} {kind} {content}")
            names.append(versions.folder(number).put(file, kind))
        return StoredPart(1, 0, 10, (("z", "float"),), "content", *names)

    def numbers(self) -> list[int]:
        return [int(name[-20:]) for name in self.blobs.names("versions")]

    def is_whole(self) -> bool:
        """Whether all files of all versions are there."""
        found = [self.versions.read(number).filters for number in self.numbers()]
        return all(self.blobs.exists(name) for one in found if one for name in one.blobs)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "set")


class TestMaking:
    def test_a_set_is_empty_first(self, scene: Scene) -> None:
        first = scene.versions.read(scene.versions.latest())
        assert (first.number, first.filters, first.counts) == (1, None, ChangeCounts())

    def test_options_come_back(self, scene: Scene) -> None:
        options = scene.writer().options()
        assert options == SetOptions(SCHEMA, True, ("email",), KEEP_FOR_S)
        assert options is not None
        assert options.schema.names == SCHEMA.names

    def test_who_comes_second_gets_the_options_of_the_first(self, scene: Scene) -> None:
        others = SetOptions(Schema.from_dict({"x": "int"}), False, (), 60.0)
        assert scene.writer().make(others).schema == SCHEMA
        assert scene.numbers() == [1]

    def test_a_maker_that_died_left_nothing_or_a_version(self, tmp_path: Path) -> None:
        blobs = open_blobs(tmp_path / "set")
        dying = FilterVersions(blobs)
        dying._create(replace(Scene(tmp_path / "other").versions.read(1)))
        assert dying.options() is None
        made = FilterVersions(blobs).make(SetOptions(SCHEMA, False, (), 60.0))
        assert (made.keep_for_s, FilterVersions(blobs).latest()) == (60.0, 1)

    def test_no_set(self, tmp_path: Path) -> None:
        versions = FilterVersions(open_blobs(tmp_path / "none"))
        assert versions.options() is None
        with pytest.raises(SnapshotError, match=r"there is no set of filters at file:///.*/none"):
            versions.latest()
        assert not (tmp_path / "none").exists()


class TestCommitting:
    def test_each_version_follows_the_last(self, scene: Scene) -> None:
        assert [scene.commit() for _ in range(3)] == [2, 3, 4]
        assert scene.writer().latest() == 4
        found = scene.writer().read(3)
        assert (found.made_s, found.counts) == (1e9, ChangeCounts(1))
        assert found.after == scene.versions.read(2).writer

    def test_one_of_two_writers_is_told(self, scene: Scene) -> None:
        scene.commit()
        other = scene.writer()
        before = other.read(other.latest())
        scene.commit()
        assert before.filters is not None
        with pytest.raises(ConflictError, match=r"another writer made version 3 .* try again"):
            other.commit(before, before.filters, ChangeCounts(1))
        assert scene.commit(other) == 4

    def test_a_lost_answer_is_no_conflict(self, scene: Scene) -> None:
        class Lossy:
            """Says that a version was there already, as a retry after a lost answer does."""

            def __getattr__(self, name: str) -> Any:
                return getattr(scene.blobs, name)

            def create(self, name: str, content: bytes) -> bool:
                scene.blobs.create(name, content)
                return False

        assert scene.commit(scene.writer(Lossy())) == 2  # type: ignore[arg-type]

    def test_a_writer_that_slept_until_the_next_versions_were_removed(self, scene: Scene) -> None:
        scene.commit()
        slow = scene.writer()
        before = slow.read(slow.latest())
        assert before.filters is not None
        for _ in range(4):
            scene.clock.now_s += KEEP_FOR_S
            scene.commit()
        assert 3 not in scene.numbers()
        left = scene.numbers()

        with pytest.raises(ConflictError, match="another writer made version 3"):
            slow.commit(before, before.filters, ChangeCounts(1))

        assert scene.numbers() == left
        assert scene.writer().latest() == left[-1]

    def test_a_slow_writer_beside_versions_that_are_kept(self, scene: Scene) -> None:
        scene.commit()
        slow = scene.writer()
        before = slow.read(slow.latest())
        assert before.filters is not None
        scene.commit()
        scene.commit()
        scene.blobs.delete(f"versions/{3:020}")  # as if its time had come
        with pytest.raises(ConflictError):
            slow.commit(before, before.filters, ChangeCounts(1))
        assert scene.numbers() == [1, 2, 4]

    def test_others_may_follow_before_the_writer_looks_again(self, scene: Scene) -> None:
        class Busy:
            """Another writer commits right after each version of this one."""

            def __getattr__(self, name: str) -> Any:
                return getattr(scene.blobs, name)

            def create(self, name: str, content: bytes) -> bool:
                made = scene.blobs.create(name, content)
                scene.commit(scene.writer())
                return made

        assert scene.commit(scene.writer(Busy())) == 2  # type: ignore[arg-type]
        assert scene.numbers() == [1, 2, 3]

    def test_a_file_that_does_not_belong_there_is_passed_over(self, scene: Scene) -> None:
        (scene.path / "versions" / "notes~").write_text("")
        assert scene.commit(scene.writer()) == 2

    @pytest.mark.parametrize("damage", ["", "{", '{"format": 1}'])
    def test_a_damaged_version_is_named(self, scene: Scene, damage: str) -> None:
        path = scene.path / "versions" / f"{scene.commit():020}"
        path.write_text(damage)
        with pytest.raises(SnapshotError, match=r"/set/versions/0+2 is damaged$"):
            scene.versions.read(2)

    def test_a_version_that_is_not_there(self, scene: Scene) -> None:
        with pytest.raises(SnapshotError, match=r"version 9 .* is not there \(any more\)"):
            scene.versions.read(9)


class TestLatest:
    def test_what_was_seen_is_followed_without_listing(self, scene: Scene) -> None:
        reader = scene.writer()
        assert reader.latest() == 1
        for _ in range(3):
            scene.commit()
        scene.clock.now_s += 29
        assert reader.latest() == 4

    def test_after_a_while_versions_may_be_gone_and_are_listed(self, scene: Scene) -> None:
        reader = scene.writer()
        assert reader.latest() == 1
        for _ in range(4):
            scene.commit()
            scene.clock.now_s += KEEP_FOR_S + 1
        scene.commit()
        assert 2 not in scene.numbers()
        assert reader.latest() == 6

    def test_a_clock_that_was_set_back(self, scene: Scene) -> None:
        reader = scene.writer()
        reader.latest()
        scene.commit()
        scene.clock.now_s -= 1e6
        assert reader.latest() == 2


class TestRetention:
    def test_a_version_is_kept_for_its_time_after_the_next_one(self, scene: Scene) -> None:
        for _ in range(3):
            scene.commit()
        scene.clock.now_s += KEEP_FOR_S - 1
        scene.commit()
        assert scene.numbers() == [1, 2, 3, 4, 5]
        scene.clock.now_s += 1
        scene.commit()
        assert scene.numbers() == [4, 5, 6]
        assert scene.is_whole()

    def test_files_go_with_the_last_version_that_needs_them(self, scene: Scene) -> None:
        for step in range(30):
            scene.commit(keep=step % 5 + 1)
            scene.clock.now_s += KEEP_FOR_S / 4
            assert scene.is_whole()
        kept = [scene.versions.read(number).filters for number in scene.numbers()]
        used = {name for one in kept if one for name in one.blobs}
        oldest = scene.numbers()[0]
        assert len(kept) < 8
        there = set(scene.blobs.names("blobs"))
        assert {name for name in there - used if int(name.split("/")[1]) <= oldest} == set()

    def test_what_a_losing_or_dead_writer_left_goes_too(self, scene: Scene) -> None:
        scene.commit()
        left = scene.part(scene.versions, 3, "of a writer that died")
        scene.blobs.create("blobs/0123456789abcdef0123456789abcdef.index", b"of saved filters")
        for _ in range(3):
            scene.clock.now_s += KEEP_FOR_S
            scene.commit()
        assert not any(scene.blobs.exists(name) for name in left.blobs)
        assert scene.blobs.exists("blobs/0123456789abcdef0123456789abcdef.index")
        assert scene.is_whole()

    def test_two_that_remove_at_once(self, scene: Scene) -> None:
        for _ in range(4):
            scene.commit()
        scene.clock.now_s += KEEP_FOR_S

        class Racing:
            """Another one removes what is due just before this one reads a version."""

            def __getattr__(self, name: str) -> Any:
                return getattr(scene.blobs, name)

            def delete(self, name: str) -> None:
                other = scene.writer()
                other._remove_old(other._numbers())
                scene.blobs.delete(name)

        assert scene.commit(scene.writer(Racing())) == 6  # type: ignore[arg-type]
        assert scene.numbers() == [5, 6]
        assert scene.is_whole()

    def test_what_cannot_be_removed_is_told_and_the_version_is_made(self, scene: Scene) -> None:
        scene.commit()
        damaged = scene.path / "versions" / f"{2:020}"
        damaged.write_text("")
        before = scene.versions.read(1)
        empty = StoredFilters(SCHEMA, True, "[]", "int64", ())
        with pytest.warns(UserWarning, match=r"old versions .* not removed: .* is damaged"):
            scene.versions.commit(replace(before, number=2), empty, ChangeCounts(1))
        assert scene.numbers() == [1, 2, 3]


class TestPins:
    def test_the_first_that_asks_fixes_the_version(self, scene: Scene) -> None:
        scene.commit()
        assert scene.versions.pin("q", 0) == 2
        scene.commit()
        assert scene.writer().pin("q", 0) == 2
        assert scene.writer().pin("q", 1) == 3
        assert scene.writer().pin("other", 0) == 3

    def test_one_of_two_that_ask_at_once_wins(self, scene: Scene) -> None:
        scene.commit()

        class Racing:
            """Another task makes the pin first, of an older version."""

            def __getattr__(self, name: str) -> Any:
                return getattr(scene.blobs, name)

            def create(self, name: str, content: bytes) -> bool:
                scene.writer().pin("q", 7)
                scene.commit()
                return scene.blobs.create(name, content)

        assert scene.writer(Racing()).pin("q", 7) == 2  # type: ignore[arg-type]

    def test_the_last_hundred_of_a_query_are_kept(self, scene: Scene) -> None:
        for batch in range(130):
            scene.versions.pin("q", batch)
        scene.versions.pin("other", 3)
        pins = scene.blobs.names("pins/q")
        assert [int(name[-20:]) for name in pins] == list(range(30, 130))
        assert len(scene.blobs.names("pins/other")) == 1

    def test_a_damaged_pin_is_named(self, scene: Scene) -> None:
        scene.versions.pin("q", 5)
        (scene.path / "pins" / "q" / f"{5:020}").write_text("1")
        with pytest.raises(SnapshotError, match=r"pins/q/0+5 is damaged"):
            scene.versions.pin("q", 5)

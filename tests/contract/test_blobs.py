"""One suite for every store of blobs."""

import multiprocessing
import pickle
import uuid
from pathlib import Path

import pytest

from wherecast.model.errors import ConfigError
from wherecast.store.blobs.blobs import Blobs, MissingBlob, open_blobs

FORKED = multiprocessing.get_context("fork")
WRITERS = 8
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(params=["path", "file", pytest.param("s3", marks=pytest.mark.release), "local"])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where nothing is yet."""
    if request.param == "s3":
        return f"{request.getfixturevalue('s3')}/{uuid.uuid4().hex}/store"
    place = tmp_path / "a store"
    return {"path": str(place), "file": place.as_uri(), "local": f"local://{tmp_path}/store"}[
        request.param
    ]


@pytest.fixture
def blobs(uri: str) -> Blobs:
    return open_blobs(uri)


@pytest.fixture
def shared(uri: str) -> Blobs:
    """A store that is safe with two writers."""
    if uri.startswith("local:"):
        pytest.skip("has no conditional writes, and says so when it is opened")
    return open_blobs(uri, conditional=True)


def in_another_process(function: object, *args: object) -> None:
    worker = FORKED.Process(target=function, args=args)
    worker.start()
    worker.join(60)
    assert worker.exitcode == 0


class TestOne:
    @pytest.mark.parametrize("content", [b"", b"content", b"\0\xff" * 100_000])
    @pytest.mark.parametrize("name", ["a", "a/b/c.json", "not packed.gz", "ž?#%20&"])
    def test_what_was_created_is_read(self, blobs: Blobs, name: str, content: bytes) -> None:
        assert not blobs.exists(name)
        assert blobs.create(name, content)
        assert blobs.exists(name)
        assert blobs.read(name) == content

    def test_a_name_is_taken_once(self, blobs: Blobs) -> None:
        assert blobs.create("a/b", b"first")
        assert not blobs.create("a/b", b"second")
        assert blobs.read("a/b") == b"first"

    def test_what_is_missing_is_named(self, blobs: Blobs, tmp_path: Path) -> None:
        for ask in (blobs.read, lambda name: blobs.fetch(name, tmp_path / "file")):
            with pytest.raises(MissingBlob) as caught:
                ask("a/b")
            assert str(caught.value) == f"a/b is missing in {blobs.uri}"
            assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
        blobs.create("file", b"")
        assert not blobs.exists("file/inside")

    def test_files_go_in_and_out(self, blobs: Blobs, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"content" * 1000)
        blobs.put_file("a/b", tmp_path / "file")
        assert blobs.read("a/b") == b"content" * 1000
        blobs.fetch("a/b", tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == b"content" * 1000
        local = blobs.local_path("a/b")
        assert local is None or local.read_bytes() == b"content" * 1000

    def test_a_file_that_is_there_is_left_alone(self, blobs: Blobs, tmp_path: Path) -> None:
        blobs.create("a/b", b"first")
        (tmp_path / "file").write_bytes(b"second")
        blobs.put_file("a/b", tmp_path / "file")
        assert blobs.read("a/b") == b"first"

    def test_deleting(self, blobs: Blobs) -> None:
        blobs.delete("a/b")
        blobs.create("a/b", b"first")
        blobs.delete("a/b")
        assert not blobs.exists("a/b")
        blobs.delete("a/b")
        assert blobs.create("a/b", b"second")
        assert blobs.read("a/b") == b"second"

    @pytest.mark.parametrize("name", ["", "/a", "a/", "a//b", "../a", "a/../b", "./a", ".a", "a\0"])
    def test_other_names_are_refused(self, blobs: Blobs, name: str) -> None:
        with pytest.raises(ConfigError, match="cannot be the name of a blob"):
            blobs.create(name, b"")
        with pytest.raises(ConfigError, match="cannot be the name of a blob"):
            blobs.read(name)


class TestNames:
    def test_folders_are_listed_whole_and_sorted(self, blobs: Blobs) -> None:
        for name in ("b", "a/2", "a/1/x", "ab/1", "a/10"):
            blobs.create(name, b"")
        assert blobs.names("a") == ["a/1/x", "a/10", "a/2"]
        assert blobs.names("a/1") == ["a/1/x"]
        assert blobs.names("") == ["a/1/x", "a/10", "a/2", "ab/1", "b"]

    def test_nothing_is_in_what_is_no_folder(self, blobs: Blobs) -> None:
        assert blobs.names("") == []
        assert blobs.names("a") == []
        blobs.create("a/b", b"")
        assert blobs.names("a/b") == []
        assert not blobs.exists("a")


class TestProcesses:
    def test_what_another_wrote_is_seen_at_once(self, blobs: Blobs) -> None:
        assert blobs.names("a") == []
        assert not blobs.exists("a/b")
        in_another_process(blobs.create, "a/b", b"content")
        assert blobs.names("a") == ["a/b"]
        assert blobs.exists("a/b")
        in_another_process(blobs.delete, "a/b")
        assert blobs.names("a") == []
        assert not blobs.exists("a/b")

    def test_they_travel(self, blobs: Blobs, monkeypatch: pytest.MonkeyPatch) -> None:
        blobs.create("a", b"content")
        monkeypatch.chdir("/")
        assert pickle.loads(pickle.dumps(blobs)).read("a") == b"content"
        assert open_blobs(blobs.uri).read("a") == b"content"

    def test_one_of_many_writers_wins_and_readers_see_all_of_it(self, shared: Blobs) -> None:
        names = [f"race/{number}" for number in range(3)]
        begin, results = FORKED.Barrier(WRITERS), FORKED.Queue()

        def write(writer: int) -> None:
            begin.wait(60)
            seen = []
            for name in names:
                won = shared.create(name, bytes([writer]) * 100_000)
                seen.append((won, set(shared.read(name)), len(shared.read(name))))
            results.put(seen)

        def read_until_all_are_there() -> None:
            for name in names:
                while True:
                    try:
                        content = shared.read(name)
                    except MissingBlob:
                        continue
                    assert len(content) == 100_000
                    assert len(set(content)) == 1
                    break

        reader = FORKED.Process(target=read_until_all_are_there)
        writers = [FORKED.Process(target=write, args=(number,)) for number in range(WRITERS)]
        for worker in (reader, *writers):
            worker.start()
        found = [results.get(timeout=120) for _ in writers]
        for worker in (reader, *writers):
            worker.join(120)
        assert reader.exitcode == 0
        for one_name in zip(*found, strict=True):
            assert sum(won for won, _, _ in one_name) == 1
            assert {size for _, _, size in one_name} == {100_000}
            assert len(set.union(*(seen for _, seen, _ in one_name))) == 1
        assert shared.names("race") == names

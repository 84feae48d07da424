"""File systems without conditional writes, through pyarrow and fsspec."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from wherecast.model.errors import ConfigError
from wherecast.store.blobs.arrow_blobs import ArrowBlobs
from wherecast.store.blobs.blobs import MissingBlob, open_blobs


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def website(tmp_path: Path) -> Iterator[str]:
    """A server of the files below `tmp_path`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_website_is_read(website: str, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    (tmp_path / "store").mkdir()
    (tmp_path / "store/a.gz").write_bytes(b"content")
    blobs = open_blobs(f"{website}/store")
    assert blobs.exists("a.gz")
    assert blobs.read("a.gz") == b"content"
    blobs.fetch("a.gz", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"content"
    with pytest.raises(MissingBlob):
        blobs.read("b")
    with pytest.raises(ConfigError, match=f"^cannot write {website}/store/b: ") as caught:
        blobs.create("b", b"content")
    assert "\n" not in str(caught.value)


def test_a_file_system_of_fsspec() -> None:
    pytest.importorskip("fsspec")
    blobs = open_blobs("memory://store/x")
    assert isinstance(blobs, ArrowBlobs)
    assert blobs.create("a/b", b"content")
    assert not blobs.create("a/b", b"other")
    assert blobs.read("a/b") == b"content"
    assert blobs.names("") == blobs.names("a") == ["a/b"]
    blobs.delete("a/b")
    assert blobs.names("") == []


def test_a_library_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/dev/null")
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    with pytest.raises(ConfigError, match=r"^cannot open hdfs://127.0.0.1:9/x: ") as caught:
        open_blobs("hdfs://127.0.0.1:9/x")
    assert "\n" not in str(caught.value)


def test_an_unfinished_write_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "store/a").mkdir(parents=True)
    (tmp_path / "store/a/in the way").touch()
    blobs = open_blobs(f"local://{tmp_path}/store")
    with pytest.raises(ConfigError, match=r"^cannot write local://.*/store/a: "):
        blobs.create("a", b"content")
    assert blobs.names("") == ["a/in the way"]
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["a"]

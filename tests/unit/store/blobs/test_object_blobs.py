"""Object stores: conditions that are not kept, answers that differ, what is missing."""

import errno
import sys
from pathlib import Path

import pytest

from wherecast.model.errors import ConfigError
from wherecast.store.blobs.blobs import open_blobs
from wherecast.store.blobs.object_blobs import LIBRARIES


@pytest.mark.parametrize("scheme", sorted(LIBRARIES))
def test_a_missing_library(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, LIBRARIES[scheme], None)
    with pytest.raises(ConfigError) as caught:
        open_blobs(f"{scheme}://bucket/x")
    library = LIBRARIES[scheme]
    wanted = f"reading {scheme}://bucket/x needs {library}: pip install '{library}'"
    assert str(caught.value) == wanted


@pytest.mark.release
@pytest.mark.usefixtures("s3")
class TestServers:
    def test_one_that_ignores_conditions_is_noticed(self) -> None:
        for _ in range(2):
            with pytest.raises(ConfigError, match="ignores conditional writes") as caught:
                open_blobs("s3://careless/x", conditional=True)
            assert "s3://careless/x" in str(caught.value)
        assert open_blobs("s3://careless/x").create("a", b"content")

    @pytest.mark.parametrize("bucket", ["wherecast", "terse", "busy"])
    def test_what_they_answer_makes_no_difference(self, bucket: str) -> None:
        for _ in range(2):
            blobs = open_blobs(f"s3://{bucket}/answers", conditional=True)
        assert blobs.create("a", b"first")
        assert not blobs.create("a", b"second")
        assert blobs.read("a") == b"first"
        assert blobs.names("") == ["a"]

    def test_the_scheme_of_spark(self) -> None:
        open_blobs("s3://wherecast/spark").create("a", b"content")
        assert open_blobs("s3a://wherecast/spark/").read("a") == b"content"

    def test_a_whole_bucket(self) -> None:
        blobs = open_blobs("s3://busy")
        blobs.create("whole/a", b"content")
        assert "whole/a" in blobs.names("")
        assert blobs.names("whole") == ["whole/a"]

    def test_a_missing_bucket(self, tmp_path: Path) -> None:
        blobs = open_blobs("s3://nowhere/x")
        (tmp_path / "file").touch()
        for write in (
            lambda: blobs.create("a", b""),
            lambda: blobs.put_file("a", tmp_path / "file"),
        ):
            with pytest.raises(ConfigError, match=r"^cannot write s3://nowhere/x/a: .*bucket"):
                write()
        assert blobs.names("") == []

    def test_a_full_local_disk_stays_what_it_is(self) -> None:
        blobs = open_blobs("s3://wherecast/full")
        blobs.create("a", b"content" * 10_000)
        with pytest.raises(OSError, match="No space") as caught:
            blobs.fetch("a", Path("/dev/full"))
        assert caught.value.errno == errno.ENOSPC


@pytest.mark.release
@pytest.mark.usefixtures("s3")
def test_a_server_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    s3fs = pytest.importorskip("s3fs")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    s3fs.S3FileSystem.clear_instance_cache()
    try:
        with pytest.raises(ConfigError, match=r"^cannot read s3://wherecast/x/a: ") as caught:
            open_blobs("s3://wherecast/x").read("a")
        assert "\n" not in str(caught.value)
    finally:
        s3fs.S3FileSystem.clear_instance_cache()

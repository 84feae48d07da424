"""Which store a URI opens, and which are refused."""

from pathlib import Path

import pytest

from wherecast.model.errors import ConfigError
from wherecast.store.blobs.blobs import open_blobs, scheme_of
from wherecast.store.blobs.posix_blobs import PosixBlobs


@pytest.mark.parametrize(
    ("uri", "scheme"),
    [
        ("/a", ""),
        ("a", ""),
        ("a:b/c", ""),
        ("file:/a", "file"),
        ("S3://b", "s3"),
        ("dbfs:/a", "dbfs"),
    ],
)
def test_schemes(uri: str, scheme: str) -> None:
    assert scheme_of(uri) == scheme


def test_paths_are_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for uri in ("a store", Path("a store"), tmp_path / "a store", f"file:{tmp_path}/a%20store"):
        blobs = open_blobs(uri, conditional=True)
        assert isinstance(blobs, PosixBlobs)
        assert blobs.uri == (tmp_path / "a store").as_uri()


@pytest.mark.parametrize("uri", ["foo://x/y", "dbfs:/x"])
def test_an_unknown_scheme(uri: str) -> None:
    with pytest.raises(ConfigError, match=f"^cannot open {uri}: .*:// is not known") as caught:
        open_blobs(uri)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("uri", ["hdfs://host/x", "http://host/x", "foo://x"])
def test_no_conditional_writes(uri: str) -> None:
    with pytest.raises(ConfigError, match=r"two writers are not safe on .*s3://") as caught:
        open_blobs(uri, conditional=True)
    assert uri in str(caught.value)
    assert "\n" not in str(caught.value)

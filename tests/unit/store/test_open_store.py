"""Which URIs name which stores."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from tests.contract.stores import Body, publications
from wherecast.model import ConfigError
from wherecast.store.open_store import StoreOptions, directory_of, open_store


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "file://localhost{}"])
def test_a_directory_has_a_path_and_uris(tmp_path: Path, form: str) -> None:
    with closing(open_store(tmp_path / "data")) as store:
        store.log.append(publications([Body(1)]), at=0)
        identity = store.log.identity
    with closing(open_store(form.format(tmp_path / "data"), "reader")) as store:
        assert store.log.identity == identity
        assert store.log.ends()[0] == 1


def test_a_uri_may_be_relative_and_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    open_store("file:my%20data").close()
    assert os.listdir(tmp_path) == ["my data"]
    assert directory_of("my%20data") == Path("my%20data")


def test_stores_in_memory_have_nothing_in_common() -> None:
    first, second = open_store("memory:"), open_store("memory:")
    first.log.append(publications([Body(1)]), at=0)
    assert second.log.ends()[0] == 0
    assert first.log.identity != second.log.identity
    assert directory_of("memory:") is None


def test_the_identity_and_the_partitions_of_a_log_in_memory_are_options() -> None:
    store = open_store("memory:", options=StoreOptions(partitions=3, identity="simulated"))
    assert store.log.identity == "simulated"
    placed = [store.log.append(publications([Body(n)]), at=0).partitions[0] for n in range(4)]
    assert placed == [0, 1, 2, 0]


def test_a_reader_makes_no_directory(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no store"):
        open_store(tmp_path / "data", "reader")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("uri", ["postgresql://host/db", "s3://bucket/data", "memory:/data"])
def test_another_scheme_is_refused(uri: str) -> None:
    with pytest.raises(ConfigError, match="a store is memory: or a directory, not"):
        open_store(uri)


def test_another_host_is_refused() -> None:
    with pytest.raises(ConfigError, match="names the host"):
        open_store("file://elsewhere/data")


@pytest.mark.parametrize("uri", [5, None, "a\0b"])
def test_what_is_no_uri_is_refused(uri: object) -> None:
    with pytest.raises(ConfigError, match="data is a directory, not"):
        open_store(uri)  # type: ignore[arg-type]

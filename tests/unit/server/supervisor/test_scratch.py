"""Temporary files of a process that is killed are removed by whoever starts the next one."""

import tempfile
from pathlib import Path

import pytest

from wherecast.server.supervisor.scratch import Scratch


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dgiven=1")
    return tmp_path


def test_each_process_has_a_new_directory_and_the_old_one_goes(temporary: Path) -> None:
    (temporary / "of another program").mkdir()
    other = Path(Scratch("other-data").renew()["TMPDIR"])
    scratch = Scratch("data")
    first = Path(scratch.renew()["TMPDIR"])
    (first / "spark-1").mkdir()
    environ = Scratch("data").renew()  # of a supervisor after one that was killed
    second = Path(environ["TMPDIR"])
    assert environ["SPARK_SUBMIT_OPTS"] == f"-Dgiven=1 -Djava.io.tmpdir={second}"
    assert second.is_dir()
    assert not first.exists()
    scratch.remove()
    assert sorted(temporary.iterdir()) == sorted([temporary / "of another program", other])


def test_caches_among_temporary_files_stay_where_they_are(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = temporary / "home"
    monkeypatch.delenv("WHERECAST_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "not a directory"))
    home.write_text("")
    environ = Scratch("data").renew()
    assert Path(environ["WHERECAST_CACHE_DIR"]).parent == temporary

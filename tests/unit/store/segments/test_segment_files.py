import builtins
import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given

from tests.unit.store.segment_strategies import Plain, plains, segment_of
from wherecast.model import StoreError
from wherecast.store.segments.segment_files import (
    SegmentFiles,
    decode_file,
    decode_row,
    encode_file,
    encode_row,
    file_name,
    segment_digest,
)


@given(plains(0, 9))
def test_segments_go_there_and_back(plain: Plain) -> None:
    segment = segment_of(plain)
    assert decode_row(encode_row(segment)).equals(segment)
    assert decode_file(encode_file(segment)).equals(segment)


@given(plains(0, 9))
def test_a_part_takes_no_more_than_itself(plain: Plain) -> None:
    segment = segment_of(plain)
    assert decode_row(encode_row(segment.slice(1))).equals(segment.slice(1))


def test_a_digest_holds_for_one_range() -> None:
    data = pa.py_buffer(b"data")
    digests = {segment_digest(0, 9, data), segment_digest(0, 8, data), segment_digest(1, 9, data)}
    assert len(digests) == 3
    assert segment_digest(0, 9, pa.py_buffer(b"dat")) not in digests


def test_a_file_is_there_under_its_name_alone(tmp_path: Path) -> None:
    files = SegmentFiles(tmp_path)
    name = file_name(3, 9, b"\x01\xff")
    files.write(name, pa.py_buffer(b"content"))
    assert files.names() == [name]
    assert files.exists(name)
    assert files.map(name).to_pybytes() == b"content"
    files.write(name, pa.py_buffer(b"content"))
    mapped = files.map(name)
    files.remove(name)
    files.remove(name)
    assert not files.exists(name)
    assert mapped.to_pybytes() == b"content"
    with pytest.raises(FileNotFoundError):
        files.map(name)


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    files = SegmentFiles(tmp_path)
    (tmp_path / "taken").mkdir()
    with pytest.raises(StoreError, match="taken"):
        files.write("taken", pa.py_buffer(b"content"))
    assert os.listdir(tmp_path) == ["taken"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "segments").mkdir()
    opened = builtins.open
    monkeypatch.setattr(builtins, "open", lambda path, mode, opener: opened("/dev/full", "wb"))
    with pytest.raises(StoreError, match="disk full"):
        SegmentFiles(tmp_path / "segments").write("name", pa.py_buffer(b"content"))

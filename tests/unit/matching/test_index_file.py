"""The file of an index: what is written is what is matched, and damage is noticed."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from wherecast import Index, Schema, SnapshotError
from wherecast.matching.columnar import snapshot
from wherecast.matching.index_file import FORMAT, MAGIC, damaged_parts, map_file
from wherecast.workloads import mixed

SCHEMA = Schema.from_dict(
    {
        "a": {"type": "float", "min": 0, "max": 10, "step": 0.5},
        "s": "string",
        "t": "timestamp",
        "lat": "float",
        "lon": "float",
    },
    open=True,
)
FILTERS = {
    "range": "a > 2.5",
    "set": "s IN ('x', 'y', 'z', 'ö', '')",
    "pattern": "s LIKE 'x_z%' AND a < 9",
    "fold": "lower(s) = 'xyz' OR s NOT LIKE '%q%'",
    "circle": "geo_distance(lat, lon, 45.8, 15.9) < 1000",
    "pair": "lat < lon",
    "open": "extra = 'yes' AND other > 5",
    "all": "TRUE",
}
PUBLICATIONS = [
    {"a": 3, "s": "xyz1", "lat": 45.8001, "lon": 15.9, "extra": "yes", "other": 6},
    {"a": 1, "s": "XYZ"},
    {"s": "ö", "t": "2026-01-01"},
    {},
]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    index = Index(SCHEMA)
    index.add_all(FILTERS)
    index.save(tmp_path / "filters.index")
    return tmp_path / "filters.index"


@pytest.mark.parametrize("most", [0, 1 << 60], ids=["trees", "columns"])
def test_a_loaded_index_matches_alike(
    saved: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "_PLAIN_MAX", most)
    index = Index(SCHEMA, kind="scan")
    index.add_all(FILTERS)

    loaded = Index.load(saved)

    assert loaded.schema == SCHEMA
    assert len(loaded) == len(FILTERS)
    assert "circle" in loaded
    assert "cicle" not in loaded
    assert loaded.match(PUBLICATIONS).to_pylist() == index.match(PUBLICATIONS).to_pylist()
    for changed in (loaded, index):
        changed.add("range", "a < 1")
        changed.remove("all")
        changed.add("new", "a = 3")
    assert loaded.match(PUBLICATIONS).to_pylist() == index.match(PUBLICATIONS).to_pylist()


def test_a_mixed_workload_survives_the_file(tmp_path: Path) -> None:
    workload = mixed(seed=11)
    texts = pa.Table.from_batches(workload.filters(500)).column("filter").to_pylist()
    batch = pa.Table.from_batches(workload.publications(60)).combine_chunks().to_batches()[0]
    index = Index(workload.schema)
    index.add_all(enumerate(texts))

    content = index.save(tmp_path / "one")
    loaded = Index.load(tmp_path / "one")

    assert loaded.match(batch).to_pylist() == index.match(batch).to_pylist()
    assert loaded.save(tmp_path / "two") == content
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_loading_maps_and_does_not_read(saved: Path) -> None:
    _, arrays, _ = map_file(saved)

    bases = [array for array in arrays.values() if array.size]
    assert all(np.shares_memory(array, array.base) for array in bases)
    assert all(array.ctypes.data % 64 == 0 for array in bases)
    assert not any(array.flags.writeable for array in bases)


def test_order_does_not_change_the_content(tmp_path: Path) -> None:
    there, back = Index(SCHEMA), Index(SCHEMA)
    there.add_all(FILTERS)
    back.add_all(dict(reversed(FILTERS.items())))

    assert there.save(tmp_path / "a") == back.save(tmp_path / "b")


def test_every_flipped_byte_is_noticed(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    figures, arrays, _ = map_file(saved)
    first = len(whole) - sum(-(-array.nbytes // 64) * 64 for array in arrays.values())
    copy = tmp_path / "copy"
    filled = [entry for entry in figures["arrays"].values() if entry[3]]
    places = [*range(0, first, 97), *(first + entry[2] for entry in filled)]

    for place in places:
        if place >= 56 + len(whole[56:first].rstrip(b"\0")) and place < first:
            continue  # the padding after the header means nothing
        bad = bytearray(whole)
        bad[place] ^= 0x10
        copy.write_bytes(bad)
        if place < first:
            with pytest.raises(SnapshotError):
                Index.load(copy)
        else:
            assert len(damaged_parts(copy)) == 1
    assert damaged_parts(saved) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello", "is not the file of an index"),
        (MAGIC + (FORMAT + 1).to_bytes(4, "little") + bytes(60), "a newer Wherecast wrote it"),
        (MAGIC + FORMAT.to_bytes(4, "little") + bytes(60), "header is damaged"),
    ],
)
def test_what_is_no_index_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(SnapshotError, match=message):
        Index.load(tmp_path / "file")


def test_a_cut_off_file_is_refused(saved: Path, tmp_path: Path) -> None:
    shutil.copy(saved, tmp_path / "cut")
    with (tmp_path / "cut").open("r+b") as file:
        file.truncate(saved.stat().st_size - 4096)
    with pytest.raises(SnapshotError, match="cut off"):
        Index.load(tmp_path / "cut")


def test_a_missing_file_and_an_unwritable_place(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="no such file"):
        Index.load(tmp_path / "none")
    index = Index(SCHEMA)
    with pytest.raises(SnapshotError, match="cannot be written"):
        index.save(tmp_path / "no" / "folder")

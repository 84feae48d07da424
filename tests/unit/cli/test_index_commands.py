"""`wherecast index check`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from wherecast import Index, Schema
from wherecast.cli.entry import run
from wherecast.matching.index_file import FORMAT, MAGIC, map_file, write_file
from wherecast.model import SnapshotError


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    index = Index(Schema.from_dict({"a": "float", "s": "string"}))
    index.add_all({"one": "a > 1", "two": "s = 'x' OR a < 0", "three": "s LIKE 'x%'"})
    index.save(tmp_path / "filters.index")
    return tmp_path / "filters.index"


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def place_of(path: Path, name: str) -> int:
    """Where an array begins in a file."""
    _, arrays, _ = map_file(path)
    return path.read_bytes().index(arrays[name].tobytes())


def rewrite(path: Path, figures: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Writes a file whose digests are right, whatever is in it."""
    del figures["arrays"]
    write_file(path, figures, {name: np.array(array) for name, array in arrays.items()})


def test_an_intact_file(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["index", "check", str(saved)]) == 0

    first, second, third = capsys.readouterr().out.splitlines()
    assert first == f"{saved}: 3 filters, {saved.stat().st_size:,} bytes, format {FORMAT}"
    assert second == f"content id {map_file(saved)[2]}"
    assert third == "Everything is as it was written."


def test_json(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["index", "check", "--json", str(saved)]) == 0

    figures, _, content_id = map_file(saved)
    assert json.loads(capsys.readouterr().out) == {
        "path": str(saved),
        "format": FORMAT,
        "content_id": content_id,
        "filters": 3,
        "arrays": len(figures["arrays"]),
        "bytes": saved.stat().st_size,
        "intact": True,
        "damaged": [],
    }


def test_damaged_arrays_are_named(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("table.predicate_offsets", "ids.data"):
        flip(saved, place_of(saved, name))

    assert run(["index", "check", str(saved)]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "Damaged: table.predicate_offsets, ids.data"
    assert err == ""
    assert run(["index", "check", "--json", str(saved)]) == 1
    assert json.loads(capsys.readouterr().out)["damaged"] == ["table.predicate_offsets", "ids.data"]


def test_bytes_between_arrays_count_too(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flip(saved, saved.stat().st_size - 1)
    assert run(["index", "check", str(saved)]) == 1
    assert capsys.readouterr().out.endswith("Damaged: padding\n")


def test_bytes_after_the_end_count_too(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with saved.open("ab") as file:
        file.write(b"more")
    assert run(["index", "check", str(saved)]) == 1
    assert capsys.readouterr().out.endswith("Damaged: padding\n")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "no such file"),
        (b"", "is empty"),
        (b"hello", "is not the file of an index"),
        (MAGIC + (FORMAT + 1).to_bytes(4, "little") + bytes(60), "a newer Wherecast wrote it"),
        (MAGIC + FORMAT.to_bytes(4, "little") + bytes(60), "header is damaged"),
    ],
)
def test_what_is_no_index_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, told: str
) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    assert run(["index", "check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert len(err.splitlines()) == 1


def test_a_cut_off_file(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_bytes(saved.read_bytes()[:-4096])
    assert run(["index", "check", str(saved)]) == 2
    assert "is cut off in the array" in capsys.readouterr().err


def test_a_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["index", "check", str(tmp_path)]) == 2
    assert "is a directory" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["ids.offsets", "filters"])
def test_arrays_that_do_not_fit(saved: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    figures, arrays, _ = map_file(saved)
    rewrite(saved, figures, arrays | {name: arrays[name][:-1]})

    assert run(["index", "check", str(saved)]) == 2
    assert "its arrays do not fit together" in capsys.readouterr().err


def test_arrays_that_are_not_those_of_an_index(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures, arrays, _ = map_file(saved)
    del arrays["table.low"]
    rewrite(saved, figures, arrays)

    assert run(["index", "check", str(saved)]) == 2
    assert "its arrays are not those of an index" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["betree", "forest"])
def test_the_file_of_a_tree(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = Index(Schema.from_dict({"a": "float"}), kind)
    index.add_all({n: f"a > {n}" for n in range(40)})
    index.save(tmp_path / "tree.index")
    assert run(["index", "check", "--json", str(tmp_path / "tree.index")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["filters"], report["intact"]) == (40, True)

    flip(tmp_path / "tree.index", place_of(tmp_path / "tree.index", "texts.data"))

    assert run(["index", "check", str(tmp_path / "tree.index")]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "Damaged: texts.data"
    with pytest.raises(SnapshotError, match=r"is damaged in texts\.data"):
        Index.load(tmp_path / "tree.index")


def test_the_file_of_a_tree_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = Index(Schema.from_dict({"a": "float"}), "betree")
    index.add_all({n: f"a > {n}" for n in range(40)})
    path = tmp_path / "tree.index"
    index.save(path)
    figures, arrays, _ = map_file(path)
    parents = np.array(arrays["layout.parent"])
    parents[1] = 5
    rewrite(path, figures, {**arrays, "layout.parent": parents})
    assert run(["index", "check", str(path)]) == 2
    assert "before the node above it" in capsys.readouterr().err

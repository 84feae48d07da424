from pathlib import Path

import pytest

from wherecast import ConfigError, Index, Schema, SchemaError, TreeParameters
from wherecast.matching.trees.betree.elastic_config import ElasticConfig

CONFIG = """name=air
tcp.port=6000
window=50
split.ns=200000
merge.ns=20000
betree=a.betree
attributes=a.attributes
"""
BETREE = "lnode.max=20\nlnode.min=3\nalpha=0\nbeta=0.5\n"
ATTRIBUTES = "% air quality\nno2#0:400:0.5\nzone$north:south:harbour\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("a.betree", BETREE), ("a.attributes", ATTRIBUTES), ("air.config", CONFIG)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_config_file_brings_the_files_that_it_names(folder: Path) -> None:
    assert ElasticConfig.load(folder / "air.config") == ElasticConfig(
        schema=Schema.from_attributes(ATTRIBUTES),
        parameters=TreeParameters(leaf_max=20, leaf_min=3),
        name="air",
        tcp_port=6000,
        window=50,
        split_ns=200_000,
        merge_ns=20_000,
    )


def test_an_index_is_made_of_a_config_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")  # the paths in the file are relative to the file
    index = Index.from_config(str(folder / "air.config"))
    assert index.kind == "betree"
    assert index.schema == Schema.from_attributes(ATTRIBUTES)
    for number in range(20):
        index.add(number, f"no2 > {number}")
    assert index.branches() == [], "an l-node of twenty filters"
    index.add(20, "no2 > 20 AND zone = 'north'")
    assert [branch.attribute for branch in index.branches()] == ["no2"]
    assert index.match([{"no2": 2.4, "zone": "south"}]).to_pylist() == [[0, 1, 2]]


def test_only_the_two_files_are_needed(folder: Path) -> None:
    (folder / "air.config").write_text("betree=a.betree\nattributes=a.attributes")
    found = ElasticConfig.load(folder / "air.config")
    given = (found.name, found.tcp_port, found.window, found.split_ns, found.merge_ns)
    assert given == (None,) * 5


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name=air", "nmae=air", ", line 1: unknown key nmae; did you mean name?"),
        ("name=air", "name=", ", line 1: name has no value"),
        ("6000", "66000", ", line 2: tcp.port is 1 to 65535, not 66000"),
        ("window=50", "window=0", ", line 3: window is at least 1, not 0"),
        ("split.ns=200000", "split.ns=2e5", ", line 4: split.ns is a whole number, not '2e5'"),
        ("merge.ns=20000", "merge.ns=200001", ", line 5: merge.ns is 0 to 200000, not 200001"),
        ("betree=a.betree", "", ": the key betree is missing"),
        ("attributes=a.attributes", "attributes=", ", line 7: attributes has no value"),
    ],
)
def test_a_bad_config_is_named_with_line_and_key(
    folder: Path, old: str, new: str, message: str
) -> None:
    path = folder / "air.config"
    path.write_text(CONFIG.replace(old, new))
    with pytest.raises(ConfigError) as raised:
        Index.from_config(path)
    assert str(raised.value) == f"{path}{message}"


def test_the_files_that_it_names_must_be_good(folder: Path) -> None:
    (folder / "a.betree").write_text("lnode.max=20\nalpha=x")
    with pytest.raises(ConfigError, match=r"a\.betree, line 2: alpha is a number, not 'x'"):
        Index.from_config(folder / "air.config")
    (folder / "a.betree").unlink()
    with pytest.raises(ConfigError, match=r"a\.betree: no such file or directory"):
        Index.from_config(folder / "air.config")
    (folder / "a.attributes").write_text("no2#0:400")
    with pytest.raises(SchemaError, match=r"a\.attributes: line 1: attribute no2"):
        Index.from_config(folder / "air.config")

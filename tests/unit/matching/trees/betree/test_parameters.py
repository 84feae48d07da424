from pathlib import Path

import pytest

from wherecast import ConfigError, TreeParameters


def load(tmp_path: Path, text: str) -> TreeParameters:
    path = tmp_path / "a.betree"
    path.write_text(text, encoding="utf-8")
    return TreeParameters.load(path)


def test_a_betree_file_has_the_sizes_of_l_nodes_and_the_weights_of_scores(tmp_path: Path) -> None:
    found = load(tmp_path, "lnode.max=20\nlnode.min=3\nalpha=0\nbeta=0.5\n")
    assert found == TreeParameters(leaf_max=20, leaf_min=3, alpha=0, beta=0.5)
    assert TreeParameters.load(str(tmp_path / "a.betree")) == found


def test_further_parameters_of_the_tree_may_be_given(tmp_path: Path) -> None:
    found = load(tmp_path, "depth.max: 5\nsample: 9\nalpha: 0.25")
    assert found == TreeParameters(depth_max=5, sample=9, alpha=0.25)


def test_what_a_file_leaves_out_has_its_default(tmp_path: Path) -> None:
    assert load(tmp_path, "# nothing") == TreeParameters()
    assert load(tmp_path, "lnode.max=40") == TreeParameters(leaf_max=40, leaf_min=10)
    assert load(tmp_path, "lnode.max=1") == TreeParameters(leaf_max=1, leaf_min=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lnode.max=20\nlnode.min=30", "line 2: lnode.min is 1 to 20, not 30"),
        ("lnode.min=9", "line 1: lnode.min is 1 to 8, not 9"),
        ("lnode.max=0", "line 1: lnode.max is 1 to 2147483647, not 0"),
        ("lnode.max=few", "line 1: lnode.max is a whole number, not 'few'"),
        ("alpha=0\n\nbeta=2", "line 3: beta is 0 to 1, not 2.0"),
        ("depth.max=63", "line 1: depth.max is 1 to 62, not 63"),
        ("sample=0", "line 1: sample is at least 1, not 0"),
        ("lnode.mix=4", "line 1: unknown key lnode.mix; did you mean lnode.min?"),
        ("lnode.max=4\nlnode.max=4", "line 2: lnode.max was given on line 1 already"),
    ],
)
def test_a_bad_file_is_named_with_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    assert str(raised.value) == f"{tmp_path / 'a.betree'}, {message}"

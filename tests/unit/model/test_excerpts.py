import pickle

import pytest

from wherecast.model import FilterError
from wherecast.model.excerpts import excerpt


@pytest.mark.parametrize(
    ("text", "position", "line", "column"),
    [
        ("no2 >", 4, "no2 >", 4),
        ("no2 >", 5, "no2 >", 5),
        ("a\nbb = \nc", 5, "bb = ", 3),
        ("a\r\nb ?", 5, "b ?", 2),
        ("日本 = 語 AND ?", 11, "日本 = 語 AND ?", 14),
        ("e\u0301 = \t?", 6, "e\u0301 =  ?", 5),
        ("a\u202eb?", 3, "a\ufffdb?", 3),
        ("", 0, "", 0),
        ("a", 99, "a", 1),
        ("x" * 100, 0, "x" * 60 + "…", 0),
        ("x" * 100, 100, "…" + "x" * 60, 61),
        ("x" * 100 + "?" + "y" * 100, 100, "…" + "x" * 30 + "?" + "y" * 29 + "…", 31),
        ("x" * 70 + "\n?", 71, "?", 0),
    ],
)
def test_a_place_is_shown(text: str, position: int, line: str, column: int) -> None:
    assert excerpt(text, position) == (line, " " * column + "^")


def test_an_error_shows_its_place_where_it_knows_the_text() -> None:
    error = FilterError("bad", 4, "write more")
    assert str(error) == error.line == "bad (at position 4); write more"
    error.text = "no2 >"
    error.others = (FilterError("worse", 0),)
    assert str(error) == "bad (at position 4); write more\n  no2 >\n      ^\nworse (at position 0)"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)

from pathlib import Path

import pytest

from wherecast.model import ConfigError
from wherecast.model.properties import Property, PropertyFile, parse_properties

TEXT = r"""
# a comment
  ! another one
name=air
tcp.port : 6000
window 50
path = a\ b\\c\
       .betree
empty=
alone
caf\u00e9=\ud83d\ude00 \t!
k\=ey = # no comment
"""


def test_the_notations_of_java_are_read_with_their_lines() -> None:
    assert parse_properties(TEXT) == {
        "name": Property("air", 4),
        "tcp.port": Property("6000", 5),
        "window": Property("50", 6),
        "path": Property("a b\\c.betree", 7),
        "empty": Property("", 9),
        "alone": Property("", 10),
        "café": Property("😀 \t!", 11),
        "k=ey": Property("# no comment", 12),
    }


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_counts(end: str) -> None:
    found = parse_properties(end.join(["a=1", "", "b=2\\", "3", "c=4\\"]))
    assert found == {"a": Property("1", 1), "b": Property("23", 3), "c": Property("4", 5)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=1\n=5", "line 2: expected key=value, not '=5'"),
        ("a=1\n\na:2", "line 3: a was given on line 1 already"),
        ("a=1\nb=\\u12G4", "line 2: four hex digits follow \\u, not '12G4'"),
        ("\\u1", "line 1: four hex digits follow \\u, not '1'"),
        ("b=\\ud800x", "line 1: '\\\\ud800x' has half of a surrogate pair"),
    ],
)
def test_what_is_malformed_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_properties(text)
    assert str(raised.value) == message


def file_of(tmp_path: Path, text: str) -> PropertyFile:
    path = tmp_path / "x.config"
    path.write_text(text, encoding="utf-8")
    return PropertyFile.load(path, ("window", "alpha", "name"))


def test_values_are_read_as_text_and_numbers(tmp_path: Path) -> None:
    file = file_of(tmp_path, "\ufeffwindow = 50 \nalpha=1e-1\nname=air ")
    assert file.whole_number("window", 7, 1) == 50
    assert file.number("alpha", 0.5, 0, 1) == 0.1
    assert file.text("name") == "air"


def test_defaults_stand_for_missing_keys(tmp_path: Path) -> None:
    file = file_of(tmp_path, "")
    assert file.whole_number("window", 7, 1) == 7
    assert file.number("alpha", 0.5, 0, 1) == 0.5
    with pytest.raises(ConfigError, match=r"x.config: the key name is missing$"):
        file.text("name")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nwindow=0", "line 2: window is at least 1, not 0"),
        ("window=5.0", "line 1: window is a whole number, not '5.0'"),
        ("window=1_0", "line 1: window is a whole number, not '1_0'"),
        ("window=" + "9" * 5_000, "line 1: window is a whole number, not '9"),
        ("window=", "line 1: window has no value"),
        ("alpha=nan", "line 1: alpha is 0 to 1, not nan"),
        ("alpha=1.5", "line 1: alpha is 0 to 1, not 1.5"),
        ("alpha=much", "line 1: alpha is a number, not 'much'"),
        ("# x\nwindows=5", "line 2: unknown key windows; did you mean window?"),
        ("zzz=5", "line 1: unknown key zzz; known keys are window, alpha, name"),
        ("=", "line 1: expected key=value, not '='"),
    ],
)
def test_a_bad_value_is_named_with_file_line_and_key(
    tmp_path: Path, text: str, message: str
) -> None:
    def read() -> None:
        file = file_of(tmp_path, text)
        file.whole_number("window", 1, 1)
        file.number("alpha", 0.5, 0, 1)

    with pytest.raises(ConfigError) as raised:
        read()
    assert str(raised.value).startswith(f"{tmp_path / 'x.config'}, {message}")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none.config: no such file or directory"):
        PropertyFile.load(tmp_path / "none.config", ())
    with pytest.raises(ConfigError, match="is a directory"):
        PropertyFile.load(tmp_path, ())
    (tmp_path / "latin.config").write_bytes(b"name=caf\xe9")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        PropertyFile.load(tmp_path / "latin.config", ())

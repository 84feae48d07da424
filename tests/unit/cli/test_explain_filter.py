"""`wherecast explain`."""

import json
from pathlib import Path

import pytest

from wherecast.cli.entry import run

FILTER = "no2 > 40 AND (city = 'Zagreb' OR pm10 > 50)"


def test_a_verdict_per_predicate_and_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", FILTER, '{"no2": 45, "city": "Split"}']) == 0

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:4] == [
        "verdict predicate seen",
        "✔ true no2 > 40.0 no2 = 45.0",
        "✘ false city = 'Zagreb' city = 'Split'",
        "? unknown pm10 > 50.0 pm10 is missing",
    ]
    assert lines[4].startswith("It does not match")
    assert lines[5:] == [
        "indexed no2 > 40.0 AND city = 'Zagreb'",
        "no2 > 40.0 AND pm10 > 50.0",
    ]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--json", FILTER, '{"no2": 45, "city": "Zagreb"}']) == 0

    report = json.loads(capsys.readouterr().out)
    assert report["matched"] is True
    assert report["sentence"] == "It matches."
    assert report["warnings"] == []
    assert report["plan"] == {
        "indexed": ["no2 > 40.0 AND city = 'Zagreb'", "no2 > 40.0 AND pm10 > 50.0"],
        "checked": [],
        "formulas": [],
    }
    assert report["reasons"][2] == {
        "predicate": "pm10 > 50.0",
        "verdict": None,
        "seen": {"pm10": None},
    }


def test_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "no2 > 5 AND no2 < 3", '{"no2": 4}']) == 0
    assert "Warning: this filter can never match" in capsys.readouterr().out


def test_with_a_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "air.toml"
    path.write_text('[attributes]\nno2 = { type = "float", max = 100 }\n"s.id" = "string"\n')
    arguments = ["explain", "--schema", str(path)]

    assert run([*arguments, "s.id LIKE 'a%'", '{"s": {"id": "ab"}}']) == 0
    assert "It matches." in capsys.readouterr().out
    assert run([*arguments, "no > 1", "{}"]) == 2
    assert "did you mean no2?" in capsys.readouterr().err
    assert run([*arguments, "no2 > 1", '{"no2": 200, "x": 1}']) == 2
    err = capsys.readouterr().err
    assert "above its maximum 100" in err
    assert "unknown attribute x" in err


@pytest.mark.parametrize(
    ("filter", "publication", "told"),
    [
        ("no2 >", "{}", "(at position 4)"),
        ("no2 > 1", "", "the body is empty"),
        ("no2 > 1", "{", "not valid JSON"),
        ("no2 > 1", "[{}]", "one publication"),
        ("no2 > 1", '"x"', "an object"),
        ("no2 > 1", '{"no2": NaN}', "not a number"),
        ("no2 > 1", '{"no2": 1, "no2": 2}', "twice"),
    ],
)
def test_bad_input_is_told_in_a_line(
    capsys: pytest.CaptureFixture[str], filter: str, publication: str, told: str
) -> None:
    assert run(["explain", filter, publication]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    with_caret = "position" in told
    assert len(err.splitlines()) <= (3 if with_caret else 2)
    assert ("\n  no2 >\n      ^\n" in err) == with_caret

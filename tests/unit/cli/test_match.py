"""`wherecast match` with the inline runner: files in, a file out, figures on screen."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from wherecast.cli.entry import run

READINGS = [
    {"no2": 45.0, "city": "Zagreb"},
    {"no2": 12.0, "city": "Split"},
    {"no2": 1200.0, "city": "Zagreb"},
]
SCHEMA = '[attributes]\nno2 = { type = "float", max = 1000 }\ncity = "string"\n'
EXPECTED = [
    {"no2": 45.0, "city": "Zagreb", "filter_id": "high"},
    {"no2": 45.0, "city": "Zagreb", "filter_id": "zagreb"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same readings and filters in every format."""
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, READINGS)))
    pq.write_table(pa.Table.from_pylist(READINGS), tmp_path / "in.parquet")
    pyarrow.csv.write_csv(pa.Table.from_pylist(READINGS), tmp_path / "in.csv")
    filters = pa.table({"id": ["zagreb", "high"], "filter": ["city = 'Zagreb'", "no2 > 40"]})
    (tmp_path / "f.jsonl").write_text("\n".join(map(json.dumps, filters.to_pylist())))
    pq.write_table(filters, tmp_path / "f.parquet")
    pyarrow.csv.write_csv(filters, tmp_path / "f.csv")
    (tmp_path / "air.toml").write_text(SCHEMA)
    return tmp_path


def match(folder: Path, filters: str, publications: str, output: str, *more: str) -> int:
    """The exit code of the command, with the inline runner."""
    files = {"--filters": filters, "--publications": publications, "--output": output}
    named = [part for option, name in files.items() for part in (option, str(folder / name))]
    return run(["match", *named, "--runner", "inline", *more])


@pytest.mark.parametrize("given", ["jsonl", "parquet", "csv"])
@pytest.mark.parametrize("wanted", ["jsonl", "parquet", "csv"])
def test_every_format(
    folder: Path, capsys: pytest.CaptureFixture[str], given: str, wanted: str
) -> None:
    schema = ("--schema", str(folder / "air.toml"))

    assert match(folder, f"f.{given}", f"in.{given}", f"out.{wanted}", *schema) == 0

    out, err = capsys.readouterr()
    path = folder / f"out.{wanted}"
    figures = r"3 publications \(1 refused\), 2 filters: 2 matches in [\d.]+ s"
    rates = r"\([\d,.]+ publications/s, [\d,.]+ matches/s\)"
    assert re.fullmatch(f"{figures} {rates} inline -> {re.escape(str(path))}\n", out)
    assert err == (
        "1 publication refused:\n  row 3: attribute no2: 1200.0 is above its maximum 1000.0\n"
    )
    readers = {
        "jsonl": lambda: [json.loads(line) for line in path.read_text().splitlines()],
        "parquet": lambda: pq.read_table(path).to_pylist(),
        "csv": lambda: (
            pyarrow.csv.read_csv(path)
            .cast(pa.schema([("no2", "f8"), ("city", "str"), ("filter_id", "str")]))
            .to_pylist()
        ),
    }
    assert readers[wanted]() == EXPECTED


@pytest.mark.parametrize("given", ["jsonl", "parquet", "csv"])
def test_without_a_schema_types_come_from_the_file(folder: Path, given: str) -> None:
    assert match(folder, "f.csv", f"in.{given}", "out.jsonl") == 0
    found = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [row["filter_id"] for row in found] == ["high", "zagreb", "high", "zagreb"]


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert match(folder, "f.csv", "in.csv", "out.csv", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["publications"] == 3
    assert report["matches"] == 4
    assert report["publications_refused"] == 0
    assert report["runner"] == "inline"
    assert report["spark_version"] is report["spark_master"] is None


def test_bad_filters_stop_it_or_are_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "f.csv").write_text("id,filter\n1,no2 >\n2,no2 > 40\n")

    assert match(folder, "f.csv", "in.csv", "out.csv") == 2
    assert not (folder / "out.csv").exists()
    assert "1 filter cannot be used: 1: " in capsys.readouterr().err
    assert match(folder, "f.csv", "in.csv", "out.csv", "--skip-bad-filters") == 0
    out, err = capsys.readouterr()
    assert "1 filter (1 left out): 2 matches" in out
    assert err.startswith("1 filter left out:\n  1: ")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("f.csv", "no.csv", "out.csv"), "no.csv: there is no such file"),
        (("no.csv", "in.csv", "out.csv"), "no.csv: there is no such file"),
        (("f.csv", "in.csv", "out.txt"), "the suffix must be one of .jsonl, .parquet, .csv"),
        (("f.csv", "in.csv", "in.csv"), "is an input and cannot be the output"),
        (("f.csv", "in.csv", "no/out.csv"), "cannot write"),
        (("f.csv", "f.csv", "out.csv"), "unknown attribute"),
    ],
)
def test_bad_files_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str], names: tuple[str, str, str], told: str
) -> None:
    assert match(folder, *names) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert len(err.splitlines()) <= 2


def test_a_column_filter_id_is_in_the_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "in.csv").write_text("no2,city,filter_id\n1,a,b\n")
    assert match(folder, "f.csv", "in.csv", "out.csv") == 2
    assert "have a column filter_id already" in capsys.readouterr().err


def test_now(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "times.jsonl").write_text(
        '{"n": 1, "seen": "2024-05-01T11:30:00Z"}\n{"n": 2, "seen": "2024-05-01T10:30:00Z"}\n'
    )
    (folder / "times.toml").write_text('[attributes]\nn = "int"\nseen = "timestamp"\n')
    (folder / "now.csv").write_text("id,filter\nrecent,seen > now() - INTERVAL 1 HOUR\n")
    schema = ("--schema", str(folder / "times.toml"))

    for now, expected in (("2024-05-01T12:00:00Z", [1]), ("2024-05-01 11:00", [1, 2]), (None, [])):
        given = () if now is None else ("--now", now)
        assert match(folder, "now.csv", "times.jsonl", "out.jsonl", *schema, *given) == 0
        lines = (folder / "out.jsonl").read_text().splitlines()
        assert [json.loads(line)["n"] for line in lines] == expected

    assert match(folder, "now.csv", "times.jsonl", "out.jsonl", *schema, "--now", "noon") == 2
    assert "--now: 'noon' is not an ISO 8601 time" in capsys.readouterr().err

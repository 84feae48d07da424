"""How values are written to files of results."""

from datetime import UTC, date, datetime
from pathlib import Path

import orjson
import pyarrow as pa
import pytest

from wherecast import Schema
from wherecast.pipeline.files import open_publications
from wherecast.pipeline.files.match_files import Tally, match_files
from wherecast.pipeline.files.output_files import open_output
from wherecast.pipeline.filters.loaded_filters import compile_filters
from wherecast.pipeline.stages import inline_runner

MOMENT = datetime(2026, 5, 1, 12, 30, 0, 250_000)
COLUMNS = {
    "local": pa.array([MOMENT, None], pa.timestamp("us")),
    "utc": pa.array([MOMENT.replace(tzinfo=UTC), None], pa.timestamp("us", tz="UTC")),
    "day": pa.array([date(2026, 5, 1), None], pa.date32()),
}


def written(path: Path) -> list[str]:
    batch = pa.RecordBatch.from_pydict(COLUMNS)
    with open_output(path, batch.schema) as output:
        output.write(batch)
    return path.read_text().splitlines()


def test_json_lines_write_a_zone_for_times_that_have_one(tmp_path: Path) -> None:
    assert [orjson.loads(line) for line in written(tmp_path / "out.jsonl")] == [
        {
            "local": "2026-05-01T12:30:00.250000",
            "utc": "2026-05-01T12:30:00.250000Z",
            "day": "2026-05-01",
        },
        {},
    ]


def test_csv_writes_a_zone_for_times_that_have_one(tmp_path: Path) -> None:
    assert written(tmp_path / "out.csv") == [
        "local,utc,day",
        "2026-05-01T12:30:00.250000,2026-05-01T12:30:00.250000Z,2026-05-01",
        ",,",
    ]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_a_timestamp_ntz_of_a_match_has_no_zone(tmp_path: Path, suffix: str) -> None:
    schema = Schema.from_dict({"at": "timestamp_ntz"})
    (tmp_path / "in.jsonl").write_text('{"at": "2026-05-01T12:30:00"}\n')
    publications = open_publications(tmp_path / "in.jsonl", schema)
    table = pa.table({"id": ["a"], "filter": ["at > TIMESTAMP_NTZ '2026-01-01 00:00:00'"]})
    compiled, _ = compile_filters(table, publications.schema)
    output = tmp_path / f"out{suffix}"
    match_files(publications, compiled, output, inline_runner.run, Tally())
    assert "2026-05-01T12:30:00" in output.read_text()
    assert "Z" not in output.read_text()

"""Whole files matched, by a runner that may cut its work as it likes."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from wherecast import Schema
from wherecast.pipeline.files import open_publications
from wherecast.pipeline.files.file_part import PART_ROWS
from wherecast.pipeline.files.match_files import Runner, Tally, match_files
from wherecast.pipeline.filters.loaded_filters import compile_filters
from wherecast.pipeline.stages import inline_runner
from wherecast.pipeline.stages.batch_task import Task


def one_row_at_a_time(task: Task, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for result in inline_runner.run(task, batches):
        for row in range(result.num_rows):
            yield result.slice(row, 1)


def all_at_once(task: Task, batches: Iterable[pa.RecordBatch]) -> list[pa.RecordBatch]:
    everything = list(inline_runner.run(task, list(batches)))
    return pa.Table.from_batches(everything).combine_chunks().to_batches() if everything else []


RUNNERS = pytest.mark.parametrize("runner", [inline_runner.run, one_row_at_a_time, all_at_once])


def matched(
    folder: Path,
    lines: list[str],
    filters: dict[str, str],
    runner: Runner,
    schema: Schema | None,
    part_rows: int = PART_ROWS,
) -> tuple[list[tuple[object, str]], Tally]:
    (folder / "in.jsonl").write_text("\n".join(lines))
    publications = open_publications(folder / "in.jsonl", schema, part_rows)
    table = pa.table({"id": list(filters), "filter": pa.array(filters.values(), pa.string())})
    compiled, _ = compile_filters(table, publications.schema)
    tally = Tally()
    match_files(publications, compiled, folder / "out.jsonl", runner, tally)
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    return [(row.get("n"), row["filter_id"]) for row in rows], tally


@RUNNERS
@pytest.mark.parametrize("part_rows", [1, 2, 100])
def test_rows_are_in_the_order_of_publications_and_ids(
    tmp_path: Path, runner: Runner, part_rows: int
) -> None:
    lines = ['{"n": 3}', "oops", '{"n": 1}', '{"n": 99}', '{"n": 2}', "{}", '{"n": 3}']
    schema = Schema.from_dict({"n": {"type": "int", "max": 9}})

    found, tally = matched(tmp_path, lines, {"b": "n > 1", "a": "n > 2"}, runner, schema, part_rows)

    assert found == [(3, "a"), (3, "b"), (2, "b"), (3, "a"), (3, "b")]
    assert (tally.publications, tally.matches, tally.refused) == (7, 5, 2)
    assert [letter.row for letter in tally.dead_letters] == [1, 3]


@RUNNERS
def test_filters_that_name_nothing_match_everything(tmp_path: Path, runner: Runner) -> None:
    found, _ = matched(tmp_path, ['{"n": 1}', '{"n": 2}'], {"all": "TRUE"}, runner, None)

    assert found == [(1, "all"), (2, "all")]


@RUNNERS
@pytest.mark.parametrize("lines", [[], ["oops"], ['{"n": 0}']])
def test_nothing_matches(tmp_path: Path, runner: Runner, lines: list[str]) -> None:
    schema = Schema.from_dict({"n": "int"})

    assert matched(tmp_path, lines, {"a": "n > 2"}, runner, schema)[0] == []
    assert matched(tmp_path, lines, {}, runner, schema)[0] == []


@RUNNERS
def test_an_open_schema_keeps_several_kinds_apart(tmp_path: Path, runner: Runner) -> None:
    lines = ['{"n": 1, "x": 5}', '{"n": 2, "x": "5"}', '{"n": 3, "x": true}', '{"n": 4}']
    filters = {"number": "x = 5", "text": "x = '5'", "truth": "x = TRUE", "none": "x IS NULL"}

    found, _ = matched(tmp_path, lines, filters, runner, Schema((), open=True))

    assert found == [(1.0, "number"), (2.0, "text"), (3.0, "truth"), (4.0, "none")]

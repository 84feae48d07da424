"""What the demo shows and checks, with an index of this process in the place of Spark."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console

pytest.importorskip("pyspark")

from wherecast.cli.demo import air, batch_table, demo_screen, eras
from wherecast.cli.demo.eras import Era
from wherecast.cli.demo.join_comparison import JoinComparison, TimedQuery, need_same
from wherecast.cli.demo.local_check import LocalCheck
from wherecast.cli.demo.micro_batches import ShownBatch
from wherecast.cli.demo.near_miss import nearest_miss
from wherecast.pipeline.spark.session_status import Whereabouts
from wherecast.pipeline.stages.batch_stages import validate
from wherecast.spark import FilterSet

ROWS = air.PUBLICATIONS // air.MICRO_BATCHES
Results = list[tuple[Era, ShownBatch]]


@pytest.fixture(scope="module")
def publications() -> pa.Table:
    return air.publications()


@pytest.fixture(scope="module")
def results(publications: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """All micro-batches, and their eras: an Arrow table changes a set without Spark."""
    place = tmp_path_factory.mktemp("filters")
    filters = FilterSet(place, schema=air.schema(), keep=eras.KEEP)
    era = eras.begin(filters, air.subscriptions())
    changes = {change.after: change for change in air.changes()}
    local = LocalCheck(era)
    result = []
    for number in range(1, air.MICRO_BATCHES + 1):
        part = publications.slice((number - 1) * ROWS, ROWS)
        result.append(
            (era, ShownBatch(number, era.version, part.num_rows, local.matches(part), 0.25))
        )
        if number in changes:
            era = eras.change(filters, era, changes[number])
            local = LocalCheck(era)
            assert len(filters) == len(era.subscriptions)
    return result


def console(width: int) -> Console:
    return Console(file=io.StringIO(), width=width, highlight=False)


def lines(out: Console) -> list[str]:
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_a_line_per_micro_batch_and_change(results: Results, width: int) -> None:
    out = console(width)
    batch_table.show_heading(out)
    for era, batch in results:
        batch_table.show_micro_batch(out, era, batch)
    for change, (era, _) in zip(air.changes(), (results[2], results[4]), strict=True):
        batch_table.show_change(out, era, change)

    shown = lines(out)
    assert max(map(len, shown)) <= width
    assert [line.split()[:3] for line in shown[3:9]] == [
        [str(batch.number), f"v{era.version}", f"{len(era.subscriptions):,}"]
        for era, batch in results
    ]
    assert all(line.endswith("█") for line in shown[3:9]) == (width == 120)
    assert shown[9].endswith("v3 from batch 3 on")
    assert shown[11].endswith("v4 from batch 5 on")


def test_a_subscriber_is_notified_once_of_a_publication(results: Results) -> None:
    [batch, *_] = [batch for _, batch in results]
    pairs = {(row["number"], row["subscriber"]) for row in batch.matches.to_pylist()}
    found = [(row["number"], row["subscriber"]) for row in batch.notifications().to_pylist()]
    assert len(found) == len(pairs) < batch.matches.num_rows
    assert set(found) == pairs


def test_the_end_of_the_stream(results: Results, publications: pa.Table) -> None:
    out = console(100)
    refused = validate(publications.to_batches()[0], air.schema()).dead_letters
    demo_screen.show_stream_end(out, results, refused)

    shown = "\n".join(lines(out))
    assert re.search(
        r"6,000 readings, [\d,]+ matches, [\d,]+ notifications in 6 micro-batches", shown
    )
    assert "with 3 versions." in shown
    assert "5 readings refused, such as: attribute no2: -999.0 is below" in shown
    assert max(map(len, lines(out))) <= 100


def test_the_start_of_spark_stands_apart() -> None:
    out = console(100)
    demo_screen.show_spark(out, Whereabouts("4.3.0", "local[2]"), 7.25)
    [line] = lines(out)
    assert line.startswith("Spark 4.3.0 local[2] and its Python workers started in 7.25 s; no fig")


class TestNearMiss:
    def test_one_predicate_alone_is_not_true(self, publications: pa.Table) -> None:
        miss = nearest_miss(publications, air.NEAR_HOME)
        assert not miss.explanation.matched
        assert [reason.verdict for reason in miss.explanation.reasons].count(True) == 1
        assert miss.reading == {
            name: value
            for name, value in publications.slice(miss.number, 1).to_pylist()[0].items()
            if name != "number"
        }

    def test_the_screen_says_why(self, publications: pa.Table) -> None:
        out = console(100)
        miss = nearest_miss(publications, air.NEAR_HOME)
        demo_screen.show_near_miss(out, miss)
        shown = "\n".join(lines(out))
        assert f"Why did ana not hear of reading {miss.number:,}?" in shown
        assert shown.count("✔ true") == 1
        assert shown.count("✘ false") == 1
        assert "It does not match:" in shown
        assert max(map(len, lines(out))) <= 100

    def test_there_may_be_none(self, publications: pa.Table) -> None:
        with pytest.raises(LookupError, match="no reading nearly matches no2 > 60"):
            nearest_miss(publications.slice(0, 0), air.NEAR_HOME)


class TestJoin:
    MATCH = TimedQuery(1_000_000, 19_000_000, "ab" * 16, 5.0)
    SAMPLE = TimedQuery(4_000, 80_000, "0123456789abcdef" * 2, 0.5)

    def result(self, join_seconds: float) -> JoinComparison:
        join = replace(self.SAMPLE, seconds=join_seconds)
        return JoinComparison(200_000, "no2 > 1.0", 7.0, self.MATCH, self.SAMPLE, join, 1.0)

    def test_the_ratio_leaves_out_what_a_query_costs_once(self) -> None:
        result = self.result(9.0)
        assert result.match_readings_per_s == 200_000
        assert result.join_readings_per_s == 500
        assert result.ratio == 400

    def test_at_least_half_of_the_time_counts(self) -> None:
        assert self.result(1.0).join_readings_per_s == 8_000

    @pytest.mark.parametrize("width", [80, 100])
    def test_the_screen_shows_both_and_the_ratio(self, width: int) -> None:
        out = console(width)
        demo_screen.show_join(out, self.result(9.0))
        shown = lines(out)
        assert max(map(len, shown)) <= width
        text = "\n".join(shown)
        assert re.search(r"wherecast.spark.match +1,000,000 +19,000,000 +5.0 +200,000", text)
        assert re.search(r"range join +4,000 +80,000 +9.0 +500 +0123456789abcd…", text)
        assert "A reading takes Spark's range join 400 times as long as match." in text

    @pytest.mark.parametrize("other", [{"matches": 79_999}, {"hash": "f" * 32}])
    def test_other_matches_are_an_error(self, other: dict[str, object]) -> None:
        need_same(self.SAMPLE, replace(self.SAMPLE, seconds=9.0))
        with pytest.raises(RuntimeError, match="on 4,000 readings the range join found"):
            need_same(self.SAMPLE, replace(self.SAMPLE, **other))  # type: ignore[arg-type]


class TestCheck:
    def test_the_same_is_fine(self, results: Results, publications: pa.Table) -> None:
        check(*results[0], publications)

    def test_a_missing_match_is_an_error(self, results: Results, publications: pa.Table) -> None:
        era, batch = results[0]
        fewer = replace(batch, matches=batch.matches.slice(1))
        with pytest.raises(RuntimeError, match=r"in micro-batch 1 Spark found .* and they differ"):
            check(era, fewer, publications)

    def test_another_version_is_an_error(self, results: Results, publications: pa.Table) -> None:
        era, batch = results[0]
        with pytest.raises(RuntimeError, match="used version 3 of the filters, and 2 was"):
            check(era, replace(batch, version=3), publications)


def check(era: Era, batch: ShownBatch, publications: pa.Table) -> None:
    LocalCheck(era).need_same(batch, publications.slice(0, ROWS))


def test_a_directory_that_cannot_be_written_is_told_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from wherecast.cli.entry import run

    (tmp_path / "file").write_text("")
    assert run(["demo", "--directory", str(tmp_path / "file" / "x")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"wherecast: cannot write to .*: Not a directory\n", err)

"""What the demo shows and checks, with the inline runner in the place of Spark."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console

pytest.importorskip("pyspark")

from wherecast.cli.demo import demo_air, demo_command, demo_eras, demo_table, demo_view
from wherecast.cli.demo.demo_eras import Era
from wherecast.cli.demo.demo_stream import MicroBatch
from wherecast.pipeline.spark.session_status import Whereabouts
from wherecast.pipeline.stages.batch_stages import validate
from wherecast.spark import FilterSet

ROWS = demo_air.PUBLICATIONS // demo_air.MICRO_BATCHES
Seen = list[tuple[Era, MicroBatch]]


@pytest.fixture(scope="module")
def publications() -> pa.Table:
    return demo_air.publications()


@pytest.fixture(scope="module")
def seen(publications: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """All micro-batches, and their eras: an Arrow table changes a set without Spark."""
    place = tmp_path_factory.mktemp("filters")
    filters = FilterSet(place, schema=demo_air.schema(), keep=demo_eras.KEEP)
    era = demo_eras.begin(filters, demo_air.subscriptions())
    changes = {change.after: change for change in demo_air.changes()}
    compiled = demo_command._compiled(era.subscriptions.values())
    result = []
    for number in range(1, demo_air.MICRO_BATCHES + 1):
        part = publications.slice((number - 1) * ROWS, ROWS)
        found = demo_command._notified(part, compiled)
        result.append((era, MicroBatch(number, era.version, part.num_rows, found, 0.25)))
        if number in changes:
            era = demo_eras.change(filters, era, changes[number])
            compiled = demo_command._compiled(era.subscriptions.values())
            assert len(filters) == len(era.subscriptions)
    return result


def console(width: int) -> Console:
    return Console(file=io.StringIO(), width=width, highlight=False)


def lines(out: Console) -> list[str]:
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_a_line_per_micro_batch_and_change(seen: Seen, width: int) -> None:
    out = console(width)
    demo_table.show_heading(out)
    for era, batch in seen:
        demo_table.show_micro_batch(out, era, batch)
    for change, (era, _) in zip(demo_air.changes(), (seen[4], seen[8]), strict=True):
        demo_table.show_change(out, era, change)

    shown = lines(out)
    assert max(map(len, shown)) <= width
    assert [line.split()[:3] for line in shown[3:15]] == [
        [str(batch.number), f"v{era.version}", f"{len(era.subscriptions):,}"] for era, batch in seen
    ]
    assert all(line.endswith("█") for line in shown[3:15]) == (width == 120)
    assert shown[15].endswith("v3 from batch 5 on")
    assert shown[17].endswith("v4 from batch 9 on")


def test_what_arrived_says_when_subscriptions_were_in_force(
    seen: Seen, publications: pa.Table
) -> None:
    out = console(120)
    demo_view.show_arrivals(out, seen, publications)

    shown = "\n".join(lines(out))
    for pattern in (
        r"near-home +no2 > 60 .* 1–12 +\d+",
        r"trip +city = 'Budapest' .* 5–8 +\d+",
        r"frost +city = 'Ljubljana' .* 1–8 +\d+",
        r"limit +city = 'Vienna' AND no2 > 80 +1–4 +\d+",
        r"limit +city = 'Vienna' AND no2 > 50 +5–12 +\d+",
    ):
        assert re.search(pattern, shown), pattern
    assert shown.count("Why ") >= 4


def test_totals(seen: Seen, publications: pa.Table) -> None:
    out = console(80)
    refused = validate(publications.to_batches()[0], demo_air.schema()).dead_letters
    demo_view.show_figures(out, seen, refused, Whereabouts("4.3.0", "local[2]"))

    shown = "\n".join(lines(out))
    assert re.search(r"refused +5 +such as: attribute no2: -999.0 is below", shown)
    assert "of one query on Spark 4.3.0 local[2], started once" in shown
    assert re.search(r"s/micro-batch +0\.2", shown)


class TestCheck:
    def test_the_same_is_fine(self, seen: Seen, publications: pa.Table) -> None:
        check(*seen[0], publications)

    def test_a_missing_notification_is_an_error(self, seen: Seen, publications: pa.Table) -> None:
        era, batch = seen[0]
        fewer = replace(batch, notifications=batch.notifications.slice(1))
        with pytest.raises(RuntimeError, match=r"in micro-batch 1 Spark gave .* and they differ"):
            check(era, fewer, publications)

    def test_another_version_is_an_error(self, seen: Seen, publications: pa.Table) -> None:
        era, batch = seen[0]
        with pytest.raises(RuntimeError, match="used version 3 of the filters, and 2 was"):
            check(era, replace(batch, version=3), publications)


def check(era: Era, batch: MicroBatch, publications: pa.Table) -> None:
    compiled = demo_command._compiled(era.subscriptions.values())
    demo_command._check(batch, era, publications.slice(0, ROWS), compiled)


def test_a_directory_that_cannot_be_written_is_told_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from wherecast.cli.entry import run

    (tmp_path / "file").write_text("")
    assert run(["demo", "--directory", str(tmp_path / "file" / "x")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"wherecast: cannot write to .*: Not a directory\n", err)

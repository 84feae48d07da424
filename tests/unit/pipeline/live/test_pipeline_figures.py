"""What a pipeline has done is added up, and the size of its index is what it is now."""

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.intake.intake import prepare
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.store.open_store import open_store

SCHEMA = wc.Schema.from_dict({"n": "int"})


def test_parts_are_added_and_sizes_are_the_largest() -> None:
    whole = PipelineFigures(batches=1, publications=5, filters=9, seconds={"match": 1.0})
    parts = [
        PipelineFigures(
            publications=2, matches=3, filters=4, index_bytes=7, seconds={"match": 0.5}
        ),
        PipelineFigures(publications=1, candidates=8, filters=6, seconds={"group": 0.25}),
        PipelineFigures(row_errors={"overflow": 1, "pattern": 2}),
        PipelineFigures(row_errors={"overflow": 4}),
    ]
    for part in parts:
        whole.add(part)
    whole.holds(parts)
    expected = PipelineFigures(1, 8, 3, 8, 6, 7, {"match": 1.5, "group": 0.25})
    expected.row_errors = {"overflow": 5, "pattern": 2}
    assert whole == expected
    assert PipelineFigures.of_parts([whole.of_part("share-0")]) == whole


def test_time_counts_although_something_fails() -> None:
    figures = PipelineFigures()
    for _ in range(2):
        try:
            with figures.timed("match"):
                raise ValueError
        except ValueError:
            pass
    assert figures.seconds["match"] > 0


def test_an_inline_pipeline_counts_what_it_does() -> None:
    store = open_store("memory:")
    core = BrokerCore(store, SCHEMA)
    core.registrar.register("ana", 0)
    for number in range(3):
        core.registrar.subscribe(wc.Subscription(f"s{number}", f"n > {number}", "ana"), 0)
    pipeline = InlinePipeline(store, lambda: 0)
    for numbers in ([1, 2], [3]):
        given = [wc.Publication({"n": number}) for number in numbers]
        store.log.append(prepare(given, "default", SCHEMA).good, 0)
        batch = pipeline.next_batch()
        assert batch is not None
        pipeline.commit(batch)
    done = pipeline.figures
    assert (done.batches, done.publications, done.matches, done.filters) == (2, 3, 6, 3)
    assert done.index_bytes > 0
    assert set(done.seconds) == {"subscriptions", "decode", "match", "group", "commit"}


def test_an_inline_pipeline_counts_errors_of_rows_and_goes_on() -> None:
    store = open_store("memory:")
    core = BrokerCore(store, SCHEMA)
    core.registrar.register("ana", 0)
    for name, text in (("s0", "10 / n > 1"), ("s1", "n * n * n > 5"), ("s2", "n = 0")):
        core.registrar.subscribe(wc.Subscription(name, text, "ana"), 0)
    pipeline = InlinePipeline(store, lambda: 0)
    given = [wc.Publication({"n": number}) for number in (0, 5, 2**62, 0)]
    store.log.append(prepare(given, "default", SCHEMA).good, 0)
    batch = pipeline.next_batch()
    assert batch is not None
    pipeline.commit(batch)
    done = pipeline.figures
    assert (done.publications, done.matches) == (4, 4)
    assert {reason: n for reason, n in done.row_errors.items() if n} == {
        "division_by_zero": 2,
        "overflow": 1,
    }
    assert done.to_dict()["row_errors"] == done.row_errors

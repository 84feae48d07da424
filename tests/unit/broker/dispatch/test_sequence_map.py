import numpy as np

from tests.unit.broker.feeding import opened, publish
from wherecast.broker.dispatch.sequence_map import SequenceMap
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.store.open_store import StoreOptions, open_store
from wherecast.store.sequences import spans_of


def located(places: SequenceMap, sequences: list[int]) -> list[tuple[int, int]]:
    partitions, offsets = places.locate(np.array(sequences, np.int64))
    return list(zip(partitions.tolist(), offsets.tolist(), strict=True))


def test_publications_are_found_before_and_after_the_commit() -> None:
    store = open_store("memory:", options=StoreOptions(partitions=3))
    opened(store)
    places, pipeline = SequenceMap(store.batches, 0), InlinePipeline(store, lambda: 0)
    wanted: list[tuple[int, int]] = []
    for _ in range(2):
        for values in ([1, 2], [3], [4, 5]):
            publish(store, values)
        batch = pipeline.next_batch()
        assert batch is not None
        spans = spans_of(batch.start, batch.end, places.end)
        wanted += [(one.partition, one.offset + at) for one in spans for at in range(one.count)]
        places.expect(spans)
        assert located(places, list(range(len(wanted)))) == wanted
        places.committed(pipeline.commit(batch).sequence)
        assert located(places, list(range(len(wanted)))) == wanted
    assert len(set(wanted)) == 10

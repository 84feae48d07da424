import numpy as np

from tests.unit.broker.feeding import opened, publish
from wherecast.broker.dispatch.sequence_map import SequenceMap
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.store.open_store import StoreOptions, open_store


def located(places: SequenceMap, sequences: list[int]) -> list[tuple[int, int]]:
    partitions, offsets = places.locate(np.array(sequences, np.int64))
    return list(zip(partitions.tolist(), offsets.tolist(), strict=True))


def test_publications_are_found_before_and_after_the_commit() -> None:
    store = open_store("memory:", options=StoreOptions(partitions=3))
    opened(store)
    places, pipeline = SequenceMap(store.batches, 0), InlinePipeline(store, lambda: 0)
    wanted: list[tuple[int, int]] = []
    for values in ([1, 2], [3], [4, 5]) * 2:
        publish(store, values)
    while (batch := pipeline.next_batch()) is not None:
        wanted += [
            (batch.partition, offset) for one in batch.runs for offset in range(one.offset, one.end)
        ]
        places.expect(places.end, batch)
        assert located(places, list(range(len(wanted)))) == wanted
        places.committed(pipeline.commit(batch).sequence)
        assert located(places, list(range(len(wanted)))) == wanted
    assert len(set(wanted)) == 10

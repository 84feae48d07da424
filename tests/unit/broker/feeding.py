"""A store with a stream for tests of the gateway, and the pipeline that is run by hand."""

from collections.abc import Sequence

import wherecast as wc
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.intake.intake import prepare
from wherecast.broker.registrar.registrar import Registrar
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.store.contracts import Store

GAP = 2**24  # sequences between two offsets of a log of one partition
SCHEMA = wc.Schema.from_dict({"no2": "float"})


def opened(store: Store) -> Registrar:
    """The registrar of a store that has the default stream."""
    registrar = Registrar(store)
    registrar.define("default", SCHEMA, 0)
    return registrar


def publish(store: Store, values: Sequence[float]) -> None:
    given = [wc.Publication({"no2": float(value)}) for value in values]
    store.log.append(prepare(given, "default", SCHEMA).good, 0)


def match(store: Store) -> None:
    """Matches and commits what is new."""
    pipeline = InlinePipeline(store, lambda: 0)
    while (batch := pipeline.next_batch()) is not None:
        pipeline.commit(batch)


def moment(offset: int) -> int:
    """The sequence of the publication at an offset of a log of one partition."""
    return (offset + 1) * GAP - 1


def queued(store: Store, name: str) -> list[int]:
    """The offsets, in a log of one partition, that a subscriber has not acknowledged."""
    cursor = store.cursors.read(name)
    assert cursor is not None
    found = store.mailboxes.queued(name, cursor.through, 1000).sequences.tolist()
    return [sequence // GAP for sequence in found]


def ack(courier: Courier, name: str, sequences: Sequence[int]) -> None:
    """Acknowledges single notifications; raises the reason of a refusal."""
    _acknowledge(courier, name, Acknowledgement(sequences=tuple(sequences)))


def ack_through(courier: Courier, name: str, sequence: int) -> None:
    """Acknowledges everything up to a notification; raises the reason of a refusal."""
    _acknowledge(courier, name, Acknowledgement(sequence))


def _acknowledge(courier: Courier, name: str, wanted: Acknowledgement) -> None:
    for problem in courier.acknowledge([(name, wanted)]):
        if problem is not None:
            raise problem

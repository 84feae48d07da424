"""Changes of the registry, one by one and as a batch."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from wherecast.store.records import CHANGE_KINDS, CHANGES, ChangeKind


@dataclass(frozen=True, slots=True)
class RegistryChange:
    """One change of the registry; a field that its kind does not need is empty."""

    kind: ChangeKind
    stream: str = ""
    subscriber: str = ""
    id: str = ""
    text: str = ""


def changes_of(changes: Sequence[RegistryChange]) -> pa.RecordBatch:
    """The batch of `CHANGES` of some changes."""
    kinds = pa.array([CHANGE_KINDS.index(change.kind) for change in changes], pa.int8())
    names = pa.array(CHANGE_KINDS, pa.string())
    columns = [
        [change.stream for change in changes],
        [change.subscriber for change in changes],
        [change.id for change in changes],
        [change.text for change in changes],
    ]
    arrays = [pa.DictionaryArray.from_arrays(kinds, names)]
    arrays += [pa.array(column, pa.string()) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=CHANGES)

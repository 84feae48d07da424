"""A set of filters that changes while a streaming query runs: one version per micro-batch."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from threading import Lock

from wherecast.model import ConfigError, SnapshotError
from wherecast.pipeline.filter_versions import FilterVersions
from wherecast.pipeline.filters import LoadedFilters
from wherecast.pipeline.place import Place
from wherecast.pipeline.stored import load

_BATCHES_MAX = 16
_QUERY, _BATCH = "sql.streaming.queryId", "streaming.sql.batchId"
_versions = cache(FilterVersions)  # one per process and URI
_lock = Lock()
_batches: OrderedDict[tuple[str, str, int], LoadedFilters] = OrderedDict()


@dataclass(frozen=True, slots=True)
class LiveFilters:
    """The filters of a set as a micro-batch uses them.

    Attributes:
        uri: of the set.
    """

    uri: str

    def load(self) -> LoadedFilters:
        """The filters of the version that belongs to the micro-batch of this task."""
        query, batch = _micro_batch()
        key = (self.uri, query, batch)
        with _lock:
            found = _batches.pop(key, None) or _loaded(self.uri, query, batch)
            _batches[key] = found
            while len(_batches) > _BATCHES_MAX:
                _batches.popitem(last=False)
            return found


def _loaded(uri: str, query: str, batch: int) -> LoadedFilters:
    versions = _versions(uri)
    number = versions.pin(query, batch)
    try:
        stored = versions.read(number).filters
    except SnapshotError as error:
        raise SnapshotError(
            f"{error}; micro-batch {batch} of query {query} began with it, and is kept only as"
            " long as versions are: start the query with a new checkpoint"
        ) from None
    assert stored is not None, "a match needs to know the type of the ids"
    return load(stored, Place(uri).open)


def _micro_batch() -> tuple[str, int]:
    """The query and the micro-batch that this task belongs to."""
    from pyspark import TaskContext

    context = TaskContext.get()
    query = None if context is None else context.getLocalProperty(_QUERY)
    batch = None if context is None else context.getLocalProperty(_BATCH)
    if query is None or batch is None:
        raise ConfigError(
            "this task does not know its micro-batch, which fixes the version of the filters;"
            " match inside foreachBatch with filter_set.filters() instead"
        )
    return query, int(batch)

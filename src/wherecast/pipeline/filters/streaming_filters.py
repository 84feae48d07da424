"""A set of filters that changes while a streaming query runs: one version per micro-batch."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from threading import Lock

from wherecast.model import ConfigError, SnapshotError
from wherecast.pipeline.filters.blob_location import Place, blobs_at
from wherecast.pipeline.filters.filter_loading import load
from wherecast.pipeline.filters.filter_versions import FilterVersions
from wherecast.pipeline.filters.loaded_filters import LoadedFilters
from wherecast.pipeline.filters.stored_filters import StoredFilters

_BATCHES_MAX = 16
_QUERY, _BATCH = "sql.streaming.queryId", "streaming.sql.batchId"
_lock = Lock()
_batches: OrderedDict[tuple[str, str, int], StoredFilters] = OrderedDict()


@dataclass(frozen=True, slots=True)
class LiveFilters:
    """The filters of a set, in the version of the micro-batch that a task belongs to.

    Attributes:
        uri: URI of the set.
    """

    uri: str

    def load(self) -> LoadedFilters:
        """The filters of the version that belongs to the micro-batch of this task."""
        query, batch = micro_batch()
        return load(pinned(self.uri, query, batch), Place(self.uri).open)


def pinned(uri: str, query: str, batch: int) -> StoredFilters:
    """The filters of the version that a micro-batch uses; the first caller fixes the version.

    Raises:
        SnapshotError: the version of this batch is no longer kept.
    """
    key = (uri, query, batch)
    with _lock:
        found = _batches.get(key)
        if found is None:
            found = _batches[key] = _pinned(_versions(uri), query, batch)
            while len(_batches) > _BATCHES_MAX:
                _batches.popitem(last=False)
        return found


@cache
def _versions(uri: str) -> FilterVersions:
    # The driver has checked that the store has conditional writes.
    return FilterVersions(blobs_at(uri))


def _pinned(versions: FilterVersions, query: str, batch: int) -> StoredFilters:
    number = versions.pin(query, batch)
    try:
        stored = versions.read(number).filters
    except SnapshotError as error:
        raise SnapshotError(
            f"{error}; micro-batch {batch} of query {query} began with it, and can be repeated only"
            " as long as versions are kept: start the query with a new checkpoint"
        ) from None
    if stored is None:
        raise SnapshotError(
            f"the filters at {versions.uri} were replaced by a new set while a query ran"
        )
    return stored


def micro_batch() -> tuple[str, int]:
    """The query and the micro-batch that this task belongs to.

    Raises:
        ConfigError: Spark has not told the task.
    """
    from pyspark import TaskContext

    context = TaskContext.get()
    query = None if context is None else context.getLocalProperty(_QUERY)
    batch = None if context is None else context.getLocalProperty(_BATCH)
    if query is None or batch is None:
        raise ConfigError(
            "this task does not know its micro-batch, which fixes the version of the filters;"
            " match inside foreachBatch with filter_set.pinned(name, batch) instead"
        )
    return query, int(batch)

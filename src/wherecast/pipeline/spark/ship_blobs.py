"""Makes blobs of filters available to the workers of a session: by path, or sent by Spark."""

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from wherecast.pipeline.filters.blob_location import Place, blobs_at
from wherecast.pipeline.filters.stored_filters import StoredFilters, counters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_shipped: "WeakKeyDictionary[Any, set[str]]" = WeakKeyDictionary()


def place_for(spark: "SparkSession", stored: StoredFilters, uri: str) -> Place:
    """The location of the blobs of filters for the tasks of a session.

    A local session reads the blobs at their path; every session reads a remote store directly.
    In all other cases Spark distributes each blob, once per session.
    """
    blobs, context = blobs_at(uri), getattr(spark, "_sc", None)
    paths = [blobs.local_path(name) for name in stored.mapped]
    if None in paths or (context is not None and _is_local(context.master)):
        return Place(uri)
    known = _shipped.setdefault(spark if context is None else context, set())
    for name, path in zip(stored.mapped, paths, strict=True):
        if str(path) not in known:
            checked = str(Place(uri).open(name))  # names a damaged file, which Spark would not
            if context is None:
                spark.addArtifact(checked, file=True)
            else:
                context.addFile(checked)
            counters["files shipped"] += 1
            known.add(str(path))
    return Place(uri, shipped=True)


def _is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")

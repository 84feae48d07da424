"""How blobs get to the workers of a session: by a path they share, or by Spark itself."""

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from wherecast.pipeline.filters.blob_location import Place, opened
from wherecast.pipeline.filters.stored_filters import StoredFilters, counters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_shipped: "WeakKeyDictionary[Any, set[str]]" = WeakKeyDictionary()


def place_for(spark: "SparkSession", stored: StoredFilters, uri: str) -> Place:
    """Where the tasks of a session find the blobs; Spark is given those that it must distribute.

    A local session reads them where they are, and every session reads those of a remote store
    from there. Else each is given to Spark once per session.
    """
    blobs, context = opened(uri), getattr(spark, "_sc", None)
    paths = [blobs.local_path(name) for name in stored.mapped]
    if None in paths or (context is not None and _is_local(context.master)):
        return Place(uri)
    known = _shipped.setdefault(spark if context is None else context, set())
    for name, path in zip(stored.mapped, paths, strict=True):
        if str(path) not in known:
            checked = str(Place(uri).open(name))  # a damaged file is named here, not by Spark
            if context is None:
                spark.addArtifact(checked, file=True)
            else:
                context.addFile(checked)
            counters["files shipped"] += 1
            known.add(str(path))
    return Place(uri, shipped=True)


def _is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")

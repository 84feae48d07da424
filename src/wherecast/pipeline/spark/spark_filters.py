"""`Filters`: compiled filters for users of Spark, picklable, saved and loaded by URI."""

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import LongType, StringType, StructField, StructType

from wherecast.model import ConfigError, Schema, SnapshotError
from wherecast.pipeline.filters.blob_location import Place, blobs_at
from wherecast.pipeline.filters.filter_loading import filter_table, read_batch
from wherecast.pipeline.filters.filter_table import read
from wherecast.pipeline.filters.manifests import packed, unpacked
from wherecast.pipeline.filters.process_blobs import own_directory
from wherecast.pipeline.filters.read_back import read_one, read_table
from wherecast.pipeline.filters.stored_filters import Folder, StoredFilters, store_filters
from wherecast.pipeline.spark.frame_columns import arrow_schema_of
from wherecast.store.blobs.blobs import Blobs, MissingBlob

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MANIFEST = "filters.json"
_REREAD_MAX = 8
_reread: OrderedDict[Any, StoredFilters] = OrderedDict()  # by blobs and schema


@dataclass(frozen=True)
class Filters:
    """Compiled filters, for any number of matches; can be pickled.

    The object is a list of files under a URI. The files of `compile_filters` are in a directory of
    this host and stay for at least a week after the process has ended. The files of `save` stay
    until they are deleted.
    """

    stored: StoredFilters = field(repr=False)
    uri: str = field(repr=False)

    def __len__(self) -> int:
        return len(self.stored)

    def __repr__(self) -> str:
        return f"Filters(filters={len(self)}, rejected={self.stored.rejected_count})"

    @property
    def keep(self) -> tuple[str, ...]:
        """The further columns of the filters that `match` can add."""
        return tuple(column.name for column in self.columns[1:])

    @property
    def columns(self) -> list[StructField]:
        """The id and the further columns."""
        return StructType.fromJson(json.loads(self.stored.columns)).fields

    @property
    def rejected(self) -> "DataFrame":
        """The filters that cannot be used: `id`, `filter`, `error`, `position`."""
        from pyspark.sql import SparkSession

        columns = StructType([StructField("id", self.columns[0].dataType)])
        columns.add("filter", StringType()).add("error", StringType()).add("position", LongType())
        rows: list[tuple[Any, ...]] = []
        if self.stored.rejected is not None:
            batch = read_batch(self.stored.rejected, Place(self.uri).open)
            rows = [tuple(row.values()) for row in batch.to_pylist()]
        spark = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
        return spark.createDataFrame(rows, columns)

    @property
    def stats(self) -> dict[str, Any]:
        """Figures: numbers of filters, of rejected ones and of those that never match, and more."""
        parts = self.stored.parts
        return {
            "filters": len(self),
            "rejected": self.stored.rejected_count,
            "never_match": sum(part.never for part in parts),
            "attributes": [attribute.name for attribute in self.stored.named],
            "parts": len(parts),
            "index_bytes": sum(part.nbytes for part in parts),
            "content": [part.content for part in parts],
        }

    def save(self, uri: str | Path) -> "Filters":
        """Writes the filters under a URI, from which `load_filters` reads them.

        Returns:
            The same filters, with their files under the new URI.

        Raises:
            ConfigError: the URI cannot be written, or holds other filters already.
        """
        target, source = blobs_at(str(uri)), Place(self.uri)
        content = packed(self.stored.to_dict())
        others = f"{uri} has other filters already; a FilterSet can change them"
        if target.exists(_MANIFEST) and target.read(_MANIFEST) != content:
            raise ConfigError(others)
        for name in self.stored.blobs:
            target.put_file(name, source.open(name))
        if not target.create(_MANIFEST, content) and target.read(_MANIFEST) != content:
            raise ConfigError(others)
        return Filters(self.stored, target.uri)

    def to_arrow(self) -> pa.Table:
        """The filters as a table: `id`, `filter` and the further columns, sorted by id."""
        return read_table(self.stored, arrow_schema_of(self.columns), Place(self.uri).open)

    def get(self, id: str | int) -> dict[str, Any]:
        """The filter with an id: `id`, `filter` and the further columns.

        Raises:
            MissingFilter: no filter has this id; it is both a `ConfigError` and a `KeyError`.
        """
        return read_one(self.stored, id, Place(self.uri).open)

    def chosen(self, keep: Sequence[str] | None) -> tuple[StructField, ...]:
        """The further columns of a result: those in `keep`, by default all."""
        missing = [name for name in keep or () if name not in self.keep]
        if missing:
            there = ", ".join(self.keep) or "none"
            raise ConfigError(f"{', '.join(missing)} was not compiled to be kept; {there} was")
        found = {column.name: column for column in self.columns[1:]}
        return tuple(found[name] for name in (self.keep if keep is None else keep))


def has_filters(blobs: Blobs) -> bool:
    """Whether `Filters.save` has written there."""
    return blobs.exists(_MANIFEST)


def load_filters(uri: str | Path) -> Filters:
    """The filters that `Filters.save` wrote under a URI.

    Raises:
        SnapshotError: there are no filters, they are damaged, or a newer Wherecast wrote them.
        ConfigError: the URI cannot be read.
    """
    blobs = blobs_at(str(uri))
    try:
        content = blobs.read(_MANIFEST)
    except MissingBlob:
        raise SnapshotError(f"there are no filters at {uri}") from None
    stored = StoredFilters.from_dict(unpacked(content, f"{blobs.uri}/{_MANIFEST}"))
    return Filters(stored, blobs.uri)


def on_schema(filters: Filters, schema: Schema) -> Filters:
    """The same filters compiled with another schema, which is then enforced.

    Raises:
        FilterError: a filter is invalid with this schema.
    """
    stored = filters.stored
    if stored.enforced and stored.schema == schema:
        return filters
    own = str(own_directory())
    key = (own, stored.blobs, repr(schema))
    found = _reread.get(key)
    if found is None:
        parts = [read(filter_table(part, Place(filters.uri).open), schema) for part in stored.parts]
        empty = StoredFilters(schema, True, stored.columns, stored.id_type, ())
        found = store_filters(parts, empty, "raise", Folder(blobs_at(own)))
        _reread[key] = found
        while len(_reread) > _REREAD_MAX:
            _reread.popitem(last=False)
    return Filters(found, own)

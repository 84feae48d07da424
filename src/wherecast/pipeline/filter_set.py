"""`FilterSet`: filters that change while queries run, as Spark users hold them."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from pyspark.sql.types import StructField, StructType

from wherecast.columns.sources import table_of
from wherecast.model import ConfigError, Schema, parse_duration
from wherecast.pipeline import filter_changes, spark_runner
from wherecast.pipeline.filter_changes import Counts
from wherecast.pipeline.filter_versions import FilterVersions, SetOptions, Version
from wherecast.pipeline.filters import (
    OnBad,
    ReadFilters,
    RejectedFilter,
    assemble,
    need_on_bad,
    read,
    stored_ids,
)
from wherecast.pipeline.place import Place
from wherecast.pipeline.spark_compile import filter_columns, read_frame
from wherecast.pipeline.spark_filters import Filters
from wherecast.pipeline.stored import StoredFilters

_KEEP_FOR_MIN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Change:
    """What a change of a set did.

    Attributes:
        version: the version it made; the one that was there where nothing changed.
        added, replaced, removed: how many filters are new, are other ones now, and are gone.
        rejected: the filters that were left out, with `on_bad_filter="skip"`.
    """

    version: int
    added: int = 0
    replaced: int = 0
    removed: int = 0
    rejected: tuple[RejectedFilter, ...] = ()


class FilterSet:
    """Filters under a URI, in versions: `add`, `remove` and `replace` make the next one.

    A streaming `match` uses one version per micro-batch, the newest when the batch begins. Changes
    act from the next micro-batch on, without a restart. Several writers are safe: one makes the
    next version, the others get a `ConflictError` and may try again.

    Attributes:
        uri: where it is.
        schema: of the publications.
        keep: the further columns of the filters that it keeps.
    """

    def __init__(
        self,
        uri: str | Path,
        schema: StructType | Schema | None = None,
        keep: Sequence[str] = (),
        *,
        id: str = "id",
        filter: str = "filter",
        keep_for: str | timedelta = "7d",
    ) -> None:
        """Opens the set under a URI; with a schema, makes an empty one where there is none.

        Args:
            uri: a path, or the URI of a store with conditional writes, that the driver and all
                workers can read.
            schema: of the publications: the schema of their DataFrame, or a `Schema`, whose
                declared domains and steps are then in force.
            keep: further columns of the filters that `match` can add to its result.
            id: the column with the ids, in what is added: strings or integers.
            filter: the column with the WHERE clauses.
            keep_for: how long a version is kept after the next one was made.

        Raises:
            ConfigError: there is no set, or one that was made for something else; or the store
                cannot keep two writers apart.
        """
        self._versions = FilterVersions(str(uri))
        self.uri = self._versions.uri
        self._id, self._filter = id, filter
        options = self._versions.options()
        if options is None:
            if schema is None:
                raise ConfigError(f"there is no set of filters at {uri}; give a schema to make one")
            options = self._versions.make(_options(schema, keep, keep_for))
        elif schema is not None:
            _need_same(options, _options(schema, keep or options.keep, keep_for), self.uri)
        self._options = options

    @property
    def schema(self) -> Schema:
        """What publications are read with."""
        return self._options.schema

    @property
    def keep(self) -> tuple[str, ...]:
        """The further columns of the filters that the set keeps."""
        return self._options.keep

    @property
    def version(self) -> int:
        """The number of the newest version."""
        return self._versions.latest()

    def __len__(self) -> int:
        stored = self._newest().filters
        return 0 if stored is None else len(stored)

    def __repr__(self) -> str:
        newest = self._newest()
        count = 0 if newest.filters is None else len(newest.filters)
        return f"FilterSet({self.uri!r}, version={newest.number}, filters={count})"

    def filters(self, version: int | None = None) -> Filters:
        """The filters of a version, the newest where none is given; they do not change.

        Raises:
            SnapshotError: the version is not there any more.
            ConfigError: nothing was ever added.
        """
        found = self._newest() if version is None else self._versions.read(version)
        if found.filters is None:
            raise ConfigError(
                f"nothing was added to the filters at {self.uri} yet, so the type of their ids is"
                " not known"
            )
        return Filters(found.filters, self.uri)

    def add(self, filters: Any, on_bad_filter: OnBad = "raise") -> Change:
        """Adds filters; one with an id that is there takes its place.

        Args:
            filters: a DataFrame, or anything with the Arrow interface, with the columns of the ids,
                the filters, and those that the set keeps.
            on_bad_filter: `raise` refuses all where one cannot be used, `skip` leaves that one out.

        Raises:
            FilterError: filters cannot be used.
            ConfigError: an id occurs twice, or a column is missing or of another type than before.
            ConflictError: another writer made the next version; nothing changed.
        """
        return self._changed(filters, on_bad_filter, filter_changes.add)

    def replace(self, filters: Any, on_bad_filter: OnBad = "raise") -> Change:
        """Makes these all filters of the set; takes and raises what `add` does."""
        return self._changed(filters, on_bad_filter, filter_changes.replace_all)

    def remove(self, ids: Any, missing: Literal["raise", "skip"] = "raise") -> Change:
        """Removes filters.

        Args:
            ids: a list of ids, or a DataFrame or Arrow table with the column of the ids.
            missing: `raise` refuses all where one is not there, `skip` removes those that are.

        Raises:
            KeyError: one is not there.
            ConflictError: another writer made the next version; nothing changed.
        """
        if missing not in ("raise", "skip"):
            raise ConfigError(f"missing is 'raise' or 'skip', not {missing!r}")
        newest = self._newest()
        given = self._ids(ids)
        if newest.filters is None or not len(given):
            return self._unchanged(newest, given, missing)
        number, place = newest.number + 1, Place(self.uri)
        folder = self._versions.folder(number)
        stored, counts = filter_changes.remove(newest.filters, given, folder, place.open)
        if not counts.removed or (missing == "raise" and counts.removed < len(given)):
            return self._unchanged(newest, given, missing, counts.removed)
        self._versions.commit(number, stored, counts)
        return Change(number, removed=counts.removed)

    def compact(self) -> Change:
        """Puts all filters into one part; matching is then as fast as on compiled filters."""
        newest = self._newest()
        if newest.filters is None:
            return Change(newest.number)
        number = newest.number + 1
        folder = self._versions.folder(number)
        stored = filter_changes.compact(newest.filters, folder, Place(self.uri).open)
        if stored is newest.filters:
            return Change(newest.number)
        self._versions.commit(number, stored, Counts())
        return Change(number)

    def _newest(self) -> Version:
        return self._versions.read(self._versions.latest())

    def _changed(self, filters: Any, on_bad: OnBad, change: Callable[..., Any]) -> Change:
        need_on_bad(on_bad)
        newest = self._newest()
        columns, parts = self._read(filters, newest.filters)
        part, rejected = assemble(parts, self.schema, on_bad)
        base = newest.filters or self._empty(columns)
        number = newest.number + 1
        given = base, part, self._versions.folder(number), Place(self.uri).open
        stored, counts = change(*given)
        if counts == Counts() and newest.filters is not None:
            return Change(newest.number, rejected=tuple(rejected))
        self._versions.commit(number, stored, counts)
        return Change(number, counts.added, counts.replaced, counts.removed, tuple(rejected))

    def _unchanged(self, newest: Version, ids: pa.Array, missing: str, found: int = 0) -> Change:
        if missing == "raise" and found < len(ids):
            raise KeyError(f"{len(ids) - found} of {len(ids)} ids are not in the set")
        return Change(newest.number)

    def _empty(self, columns: list[StructField]) -> StoredFilters:
        type_ = _arrow_schema(columns).field(0).type
        shown = StructType(columns).json()
        return StoredFilters(self.schema, self._options.enforced, shown, str(type_), ())

    def _read(
        self, filters: Any, there: StoredFilters | None
    ) -> tuple[list[StructField], list[ReadFilters]]:
        """The columns of filters (ids and kept ones), and what was read of them."""
        if hasattr(filters, "mapInArrow"):
            ids, texts, *kept = filter_columns(filters, self._id, self._filter, self.keep)
            columns = [ids, *kept]
            _need_types(columns, there)
            parts = read_frame(filters, [ids, texts, *kept], self.schema)
            return columns, [_fitting(part, columns) for part in parts]
        table = self._table(filters)
        columns = _spark_columns(table.drop_columns([table.column_names[1]]))
        if there is not None:
            columns = StructType.fromJson(json.loads(there.columns)).fields
        target = _arrow_schema(columns)
        ids, *kept = list(target)
        fields = [ids, pa.field(self._filter, pa.large_string()), *kept]
        try:
            table = table.cast(pa.schema(fields))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise ConfigError(f"the filters do not fit those of the set: {error}") from None
        return columns, [read(table, self.schema)]

    def _table(self, filters: Any) -> pa.Table:
        """The columns of the set, of anything with the Arrow interface."""
        if not (hasattr(filters, "__arrow_c_stream__") or hasattr(filters, "__arrow_c_array__")):
            kind = type(filters).__name__
            raise ConfigError(f"filters are a DataFrame or an Arrow table, not {kind}")
        table = table_of(filters)
        names = [self._id, self._filter, *self.keep]
        missing = [name for name in names if name not in table.column_names]
        if missing:
            there = ", ".join(table.column_names)
            raise ConfigError(f"the filters have no column {', '.join(missing)}, only {there}")
        return table.select(names)

    def _ids(self, ids: Any) -> pa.Array:
        """Distinct ids as parts keep them."""
        if hasattr(ids, "mapInArrow"):
            found = spark_runner.to_arrow(ids.select(self._id)).column(0)
        elif hasattr(ids, "__arrow_c_stream__"):
            table = table_of(ids)
            place = self._id if self._id in table.column_names else 0
            found = table.column(place)
        elif isinstance(ids, Iterable) and not isinstance(ids, str):
            found = pa.chunked_array([pa.array(list(ids))])
        else:
            raise ConfigError(f"ids are a list, a DataFrame or an Arrow table, not {ids!r}")
        if pa.types.is_null(found.type):
            found = found.cast(pa.large_string())
        return stored_ids(found.combine_chunks().drop_null()).unique()


def _options(
    schema: StructType | Schema, keep: Sequence[str], keep_for: str | timedelta
) -> SetOptions:
    duration = parse_duration(keep_for)
    if duration < _KEEP_FOR_MIN:
        raise ConfigError("keep_for is at least 1m: queries look back at the last version")
    enforced = isinstance(schema, Schema)
    attributes = schema if isinstance(schema, Schema) else Schema.from_spark(schema)
    return SetOptions(attributes, enforced, tuple(keep), duration.total_seconds())


def _need_same(there: SetOptions, given: SetOptions, uri: str) -> None:
    """Nothing where a set was made for what is asked of it."""
    for what, old, new in (
        ("schema", there.schema, given.schema),
        ("domains", there.enforced, given.enforced),
        ("kept columns", there.keep, given.keep),
    ):
        if old != new:
            raise ConfigError(f"the set of filters at {uri} was made with other {what}")


def _need_types(columns: Sequence[StructField], there: StoredFilters | None) -> None:
    """Nothing where columns have the types that the set has already."""
    if there is None:
        return
    known = StructType.fromJson(json.loads(there.columns)).fields
    for old, new in zip(known, columns, strict=True):
        if old.dataType != new.dataType:
            told = f"{new.dataType.simpleString()}, in the set it is {old.dataType.simpleString()}"
            raise ConfigError(f"column {new.name} of the filters is {told}; cast it")


def _arrow_schema(columns: Sequence[StructField]) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(StructType(list(columns)))


def _spark_columns(table: pa.Table) -> list[StructField]:
    from pyspark.sql.pandas.types import from_arrow_schema

    return list(from_arrow_schema(table.schema).fields)


def _fitting(part: ReadFilters, columns: Sequence[StructField]) -> ReadFilters:
    """What was read, its columns as the set keeps them: times differ by the zone of a session."""
    target = pa.schema(list(_arrow_schema(columns))[1:])
    if part.kept.schema == target or not part.kept.num_columns:
        return part
    kept = part.kept.cast(target)
    return ReadFilters(part.ids, part.texts, kept, part.table, part.rejected)

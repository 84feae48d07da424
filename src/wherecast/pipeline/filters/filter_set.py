"""`FilterSet`: a set of filters that users of Spark change while queries run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from pyspark.sql.types import StructField, StructType

from wherecast.matching.run_tiers import TIER_FILTERS
from wherecast.model import ConfigError, Schema, parse_duration
from wherecast.pipeline.filters import filter_changes
from wherecast.pipeline.filters.blob_location import Place
from wherecast.pipeline.filters.filter_changes import ChangeCounts
from wherecast.pipeline.filters.filter_inputs import FilterColumns, distinct_ids, read_input
from wherecast.pipeline.filters.filter_table import OnBad, RejectedFilter, assemble, need_on_bad
from wherecast.pipeline.filters.filter_versions import FilterVersions, SetOptions, Version
from wherecast.pipeline.filters.read_back import MissingFilter
from wherecast.pipeline.filters.stored_filters import StoredFilters
from wherecast.pipeline.filters.streaming_filters import pinned
from wherecast.pipeline.spark.frame_columns import arrow_schema_of
from wherecast.pipeline.spark.query_checks import need_names
from wherecast.pipeline.spark.spark_filters import Filters
from wherecast.store.blobs.blobs import open_blobs

_KEEP_FOR_MIN = timedelta(minutes=1)
_SHOWN_MAX = 3


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of a change of a set.

    Attributes:
        version: the version that the change made; the newest version if nothing changed.
        added, replaced, removed: number of filters that were added, replaced and removed.
        rejected: the filters that were left out, with `on_bad_filter="skip"`.
    """

    version: int
    added: int = 0
    replaced: int = 0
    removed: int = 0
    rejected: tuple[RejectedFilter, ...] = ()


@dataclass(frozen=True, slots=True)
class SetVersion:
    """A version of a set, as `FilterSet.history` lists it.

    Attributes:
        version: the number of the version.
        made_at: when the version was made, in UTC.
        filters: number of filters.
        added, replaced, removed: number of filters that the change added, replaced and removed.
    """

    version: int
    made_at: datetime
    filters: int
    added: int
    replaced: int
    removed: int


class FilterSet:
    """Filters under a URI, in versions: `add`, `remove` and `replace` make the next one.

    A streaming `match` uses one version per micro-batch, the newest when the batch begins. Changes
    act from the next micro-batch on, without a restart. Several writers are safe: one makes the
    next version, the others get a `ConflictError` and may try again.

    Attributes:
        uri: URI of the set.
        schema: schema of the publications.
        keep: the further columns of the filters that the set keeps.
    """

    _tier_filters = TIER_FILTERS  # largest number of filters of a part of the lowest tier

    def __init__(
        self,
        uri: str | Path,
        schema: StructType | Schema | None = None,
        keep: Sequence[str] = (),
        *,
        id: str | None = None,
        filter: str | None = None,
        keep_for: str | timedelta | None = None,
    ) -> None:
        """Opens the set under a URI; with a schema, makes an empty set if there is none.

        Args:
            uri: a path, or the URI of a store with conditional writes, that the driver and all
                workers can read.
            schema: the schema of the publications' DataFrame, or a `Schema`, whose declared
                domains and steps are then enforced.
            keep: further columns of the filters that `match` can add to its result.
            id: the column of the ids in added filters: strings or integers. By default the name
                that the set was made with, or `id` for a new set.
            filter: the column of the WHERE clauses in added filters; by default likewise, or
                `filter`.
            keep_for: how long a version is kept after the next one was made; by default a week.

        Raises:
            ConfigError: there is no set, or it was made with other options, or the store has no
                conditional writes.
        """
        self._versions = FilterVersions(open_blobs(uri, conditional=True))
        self.uri = self._versions.uri
        given = _given_options(schema, keep, keep_for)
        options = self._versions.options()
        if options is None:
            if schema is None:
                raise ConfigError(f"there is no set of filters at {uri}; give a schema to make one")
            named = SetOptions(**given, id=id or "id", filter=filter or "filter")
            options = self._versions.make(named)
        _need_same(options, replace(options, **given), self.uri)
        self._options = options
        self._columns = FilterColumns(id or options.id, filter or options.filter, options.keep)

    @property
    def schema(self) -> Schema:
        """The schema of the publications."""
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
        """The filters of a version, by default the newest; the result never changes.

        Raises:
            SnapshotError: there is no such version; names the versions that are kept.
            ConfigError: no filter was ever added.
        """
        found = self._newest() if version is None else self._versions.read(version)
        if found.filters is None:
            raise ConfigError(
                f"nothing was added to the filters at {self.uri} yet, so the type of their ids is"
                " not known"
            )
        return Filters(found.filters, self.uri)

    def at(self, version: object) -> Filters:
        """The filters of a version, for `match`, `get` and `to_arrow`; the result never changes.

        Args:
            version: the number of the version.

        Raises:
            SnapshotError: there is no such version; names the versions that are kept.
            ConfigError: no filter was ever added.
        """
        if not isinstance(version, int) or isinstance(version, bool):
            raise ConfigError(f"version is a number, not {version!r}")
        return self.filters(version)

    def get(self, id: str | int) -> dict[str, Any]:
        """The filter with an id in the newest version: `id`, `filter` and the kept columns.

        Raises:
            MissingFilter: no filter has this id; it is both a `ConfigError` and a `KeyError`.
        """
        newest = self._newest().filters
        if newest is None:
            raise MissingFilter([id], 1, "there are no filters")
        return Filters(newest, self.uri).get(id)

    def to_arrow(self) -> pa.Table:
        """The filters of the newest version: `id`, `filter` and the kept columns, sorted by id.

        Raises:
            ConfigError: no filter was ever added.
        """
        return self.filters().to_arrow()

    def history(self) -> list[SetVersion]:
        """The versions that are kept, the oldest first."""
        return [
            SetVersion(
                found.number,
                datetime.fromtimestamp(found.made_s, UTC),
                0 if found.filters is None else len(found.filters),
                found.counts.added,
                found.counts.replaced,
                found.counts.removed,
            )
            for found in self._versions.all()
        ]

    def pinned(self, query: str, batch: int) -> Filters:
        """The filters of the version that a batch of a query uses, for `foreachBatch`.

        The first call fixes the newest version for the batch, so that a repeated batch uses the
        same version again. The set remembers the last hundred batches of a query.

        Args:
            query: a name for the query, the same at every start.
            batch: the number of the batch, as `foreachBatch` gives it.

        Raises:
            SnapshotError: the version of this batch is no longer kept.
        """
        self.filters()  # raises ConfigError before the first filter
        return Filters(pinned(self.uri, query, batch), self.uri)

    def add(self, filters: Any, on_bad_filter: OnBad = "raise") -> Change:
        """Adds filters; a filter replaces the one with the same id.

        Args:
            filters: a DataFrame, or anything with the Arrow interface, with the columns of the ids,
                of the filters, and those that the set keeps.
            on_bad_filter: `raise` refuses all filters if one is invalid; `skip` leaves out the
                invalid filters.

        Raises:
            FilterError: filters are invalid.
            ConfigError: an id occurs twice, or a column is missing or has another type than before.
            ConflictError: another writer made the next version; nothing changed.
        """
        add = partial(filter_changes.add, tier_filters=self._tier_filters)
        return self._change(filters, on_bad_filter, add)

    def replace(self, filters: Any, on_bad_filter: OnBad = "raise") -> Change:
        """Replaces all filters of the set; arguments and errors are those of `add`."""
        return self._change(filters, on_bad_filter, filter_changes.replace_all)

    def remove(self, ids: Any, missing: Literal["raise", "skip"] = "raise") -> Change:
        """Removes filters.

        Args:
            ids: a list of ids, or a DataFrame or Arrow table with the column of the ids.
            missing: `raise` removes nothing if an id is unknown; `skip` ignores unknown ids.

        Raises:
            MissingFilter: an id is not in the set; it is both a `ConfigError` and a `KeyError`.
            ConflictError: another writer made the next version; nothing changed.
        """
        if missing not in ("raise", "skip"):
            raise ConfigError(f"missing is 'raise' or 'skip', not {missing!r}")
        newest, given = self._newest(), distinct_ids(ids, self._columns.id)
        base, open_blob = newest.filters, Place(self.uri).open
        absent = given if base is None else filter_changes.missing(base, given, open_blob)
        if len(absent) and missing == "raise":
            raise MissingFilter(absent.slice(0, _SHOWN_MAX).to_pylist(), len(absent))
        if base is None or len(absent) == len(given):
            return Change(newest.number)
        folder = self._versions.folder(newest.number + 1)
        stored, counts = filter_changes.remove(base, given, folder, open_blob, self._tier_filters)
        return self._commit(newest, stored, counts)

    def compact(self) -> Change:
        """Puts all filters into one part; matching is then as fast as on compiled filters."""
        newest = self._newest()
        if newest.filters is None:
            return Change(newest.number)
        folder = self._versions.folder(newest.number + 1)
        stored = filter_changes.compact(newest.filters, folder, Place(self.uri).open)
        if stored is newest.filters:
            return Change(newest.number)
        return self._commit(newest, stored, ChangeCounts())

    def _newest(self) -> Version:
        return self._versions.read(self._versions.latest())

    def _change(self, filters: Any, on_bad: OnBad, change: Callable[..., Any]) -> Change:
        need_on_bad(on_bad)
        newest = self._newest()
        columns, parts = read_input(filters, self._columns, self.schema, newest.filters)
        part, rejected = assemble(parts, self.schema, on_bad)
        base = newest.filters or self._empty(columns)
        folder = self._versions.folder(newest.number + 1)
        stored, counts = change(base, part, folder, Place(self.uri).open)
        if counts == ChangeCounts() and newest.filters is not None:
            return Change(newest.number, rejected=tuple(rejected))
        return self._commit(newest, stored, counts, rejected)

    def _commit(
        self,
        newest: Version,
        stored: StoredFilters,
        counts: ChangeCounts,
        rejected: Sequence[RejectedFilter] = (),
    ) -> Change:
        number = self._versions.commit(newest, stored, counts).number
        return Change(number, counts.added, counts.replaced, counts.removed, tuple(rejected))

    def _empty(self, columns: list[StructField]) -> StoredFilters:
        shown, type_ = StructType(columns).json(), str(arrow_schema_of(columns).field(0).type)
        return StoredFilters(self.schema, self._options.enforced, shown, type_, ())


def _given_options(
    schema: StructType | Schema | None, keep: Sequence[str], keep_for: str | timedelta | None
) -> dict[str, Any]:
    """The options that the caller gave, in the form of `SetOptions`."""
    given: dict[str, Any] = {}
    if schema is not None:
        enforced = isinstance(schema, Schema)
        attributes = schema if isinstance(schema, Schema) else Schema.from_spark(schema)
        given |= {"schema": attributes, "enforced": enforced}
    need_names("keep", keep)
    if keep:
        given["keep"] = tuple(dict.fromkeys(keep))
    if keep_for is not None:
        duration = parse_duration(keep_for)
        if duration < _KEEP_FOR_MIN:
            raise ConfigError("keep_for is at least 1m: queries look back at the last version")
        given["keep_for_s"] = duration.total_seconds()
    return given


def _need_same(there: SetOptions, given: SetOptions, uri: str) -> None:
    """Raises ConfigError if the set was made with other options."""
    for what, old, new in (
        ("schema", there.schema, given.schema),
        ("domains", there.enforced, given.enforced),
        ("kept columns", there.keep, given.keep),
        ("keep_for", there.keep_for_s, given.keep_for_s),
    ):
        if old != new:
            raise ConfigError(f"the set of filters at {uri} was made with other {what}")

"""A table of filters, read and checked once, that travels to wherever matching happens.

Within it a filter is known by its place: filters are sorted by id, so places sort as ids do.
"""

import copy
import hashlib
import json
import pickle
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from wherecast.language import Filter
from wherecast.language.expression import attributes_of, predicates
from wherecast.matching import Index
from wherecast.model import Attribute, ConfigError, FilterError, Schema, Subscription

OnBad = Literal["raise", "skip"]
_SHOWN_MAX = 3
_INDEXES_MAX = 4
_indexes: OrderedDict[str, Index] = OrderedDict()  # of this process, by content; the newest last


@dataclass(frozen=True, slots=True)
class RejectedFilter:
    """A filter that cannot be used, as it was given, and why.

    Attributes:
        id: its id; None where that is missing.
        filter: its text; None where that is missing.
        error: what is wrong, with a hint where there is one.
        position: where in the text, counted in characters from 0, if known.
    """

    id: Any
    filter: str | None
    error: str
    position: int | None


@dataclass(frozen=True, slots=True)
class CompiledFilters:
    """Filters by place, ready to be sent to a worker.

    Attributes:
        schema: what publications are read with: the declared schema where it is enforced, else
            the attributes that the filters name.
        enforced: whether publications may be refused, since the schema was declared.
        ids: the ids, sorted; as long as there are filters.
        kept: further columns of the filters, in the same order.
        named: the attributes that the filters name.
        content: the filters, pickled: read only where they are needed.
        key: a hash of schema and filters, the same wherever they are the same.
    """

    schema: Schema
    enforced: bool
    ids: pa.Array
    kept: pa.RecordBatch
    named: tuple[Attribute, ...]
    content: bytes
    key: str

    def __len__(self) -> int:
        return len(self.ids)

    def filters(self) -> list[Filter]:
        """The filters, by place."""
        found: list[Filter] = pickle.loads(self.content)
        return found

    def table(self) -> pa.Table:
        """The filters as `compile_filters` takes them."""
        texts = pa.array([filter.text for filter in self.filters()], pa.string())
        columns = [self.ids, texts, *self.kept.columns]
        return pa.Table.from_arrays(columns, ["id", "filter", *self.kept.schema.names])

    def index(self) -> Index:
        """The index of the filters by place; this process keeps the last few it made."""
        index = _indexes.pop(self.key, None)
        if index is None:
            index = Index(self.schema)
            index.add_all(enumerate(self.filters()))
        _indexes[self.key] = index
        while len(_indexes) > _INDEXES_MAX:
            _indexes.popitem(last=False)
        return index


def compile_filters(
    table: pa.Table, schema: Schema, enforced: bool = False, on_bad: OnBad = "raise"
) -> tuple[CompiledFilters, list[RejectedFilter]]:
    """The filters of a table.

    Args:
        table: its first two columns are ids (strings or integers) and filters; the others are
            kept.
        schema: what they are read with.
        enforced: whether the schema also decides which publications are good.
        on_bad: what a filter that cannot be used does.

    Returns:
        The good filters, and the rejected ones with `on_bad="skip"`.

    Raises:
        FilterError: with `on_bad="raise"`, the first three bad filters and their count.
        ConfigError: an id occurs twice.
    """
    if on_bad not in ("raise", "skip"):
        raise ConfigError(f"on_bad_filter is 'raise' or 'skip', not {on_bad!r}")
    table = table.combine_chunks()
    ids = table.column(0).to_pylist()
    _refuse_duplicates(ids)
    good: list[tuple[int, Filter]] = []
    rejected: list[RejectedFilter] = []
    for row, (id, text) in enumerate(zip(ids, table.column(1).to_pylist(), strict=True)):
        read = _read(id, text, schema)
        if isinstance(read, Filter):
            good.append((row, read))
        else:
            rejected.append(read)
    if rejected and on_bad == "raise":
        raise _bad_filters(rejected)
    good.sort(key=lambda pair: ids[pair[0]])
    rows = pa.array([row for row, _ in good], pa.int64())
    compiled = _packed(table.take(rows), [filter for _, filter in good], schema, enforced)
    return compiled, rejected


def compile_subscriptions(subscriptions: Iterable[Subscription], schema: Schema) -> CompiledFilters:
    """The filters of subscriptions, sorted by subscriber and id, which are the kept columns.

    Raises:
        FilterError: a filter cannot be used.
        ConfigError: a subscriber has two subscriptions of one id.
    """
    ordered = sorted(subscriptions, key=lambda s: (s.subscriber, s.id))
    _refuse_duplicates([f"{s.subscriber}/{s.id}" for s in ordered])
    table = pa.table(
        {
            "id": pa.array(range(len(ordered)), pa.int64()),
            "filter": pa.array([s.filter for s in ordered], pa.string()),
            "subscriber": pa.array([s.subscriber for s in ordered], pa.string()),
            "subscription_id": pa.array([s.id for s in ordered], pa.string()),
        }
    )
    return compile_filters(table, schema, enforced=True)[0]


def _read(id: object, text: object, schema: Schema) -> Filter | RejectedFilter:
    """The filter, or why it is none."""
    if id is None or text is None:
        what = "id" if id is None else "filter"
        return RejectedFilter(
            id, text if isinstance(text, str) else None, f"the {what} is null", None
        )
    try:
        return Filter(text, schema)  # type: ignore[arg-type]
    except FilterError as error:
        hint = "" if error.hint is None else f"; {error.hint}"
        return RejectedFilter(id, str(text), f"{error.message}{hint}", error.position)


def _refuse_duplicates(ids: Sequence[object]) -> None:
    counts = Counter(id for id in ids if id is not None)
    several = {id: count for id, count in counts.items() if count > 1}
    if several:
        shown = ", ".join(f"{id!r} {n} times" for id, n in list(several.items())[:_SHOWN_MAX])
        more = ", …" if len(several) > _SHOWN_MAX else ""
        noun = "id occurs" if len(several) == 1 else "ids occur"
        raise ConfigError(f"{len(several)} {noun} more than once: {shown}{more}")


def _bad_filters(rejected: list[RejectedFilter]) -> FilterError:
    """One error for all bad filters: the first few and the count."""
    shown = "; ".join(f"{bad.id!r}: {_told(bad)}" for bad in rejected[:_SHOWN_MAX])
    more = len(rejected) - _SHOWN_MAX
    noun = "filter cannot" if len(rejected) == 1 else "filters cannot"
    rest = f"; and {more} more" if more > 0 else ""
    return FilterError(f"{len(rejected)} {noun} be used: {shown}{rest}")


def _told(bad: RejectedFilter) -> str:
    return bad.error if bad.position is None else f"{bad.error} (at position {bad.position})"


def _packed(
    table: pa.Table, filters: list[Filter], schema: Schema, enforced: bool
) -> CompiledFilters:
    """The sorted table and its filters, on the schema that publications are read with."""
    found = {
        attribute.name: attribute
        for filter in filters
        for predicate in predicates(filter.expression)
        for attribute in attributes_of(predicate)
    }
    named = tuple(found[name] for name in sorted(found))
    declared = tuple(attribute for attribute in schema if attribute.name in found)
    reading = schema if enforced else Schema(declared, schema.open)
    kept = table.select(range(2, table.num_columns))
    content = json.dumps([repr(reading), *(filter.text for filter in filters)])
    return CompiledFilters(
        schema=reading,
        enforced=enforced,
        ids=_one(table.column(0)),
        kept=pa.RecordBatch.from_arrays([_one(c) for c in kept.columns], schema=kept.schema),
        named=named,
        content=pickle.dumps([_on(filter, reading) for filter in filters]),
        key=hashlib.sha256(content.encode()).hexdigest(),
    )


def _one(column: pa.ChunkedArray) -> pa.Array:
    """The column in one piece."""
    return column.combine_chunks()


def _on(filter: Filter, schema: Schema) -> Filter:
    """The filter on a schema with fewer attributes, all that it names among them."""
    moved = copy.copy(filter)
    moved.schema = schema
    return moved

"""The public index: filters by id, matched against batches of publications."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from wherecast.columns import arrow_schema, decode_rows, read_arrow
from wherecast.columns.decoded import Decoded
from wherecast.columns.now_column import with_now
from wherecast.language import Filter
from wherecast.language.meaning.row_errors import RowErrors, counting
from wherecast.matching.engine import (
    Branching,
    Covering,
    Drawable,
    Engine,
    RowMatching,
    Savable,
)
from wherecast.matching.filter_columns import arrow_columns, bad_filters, kept_rows, pairs_of
from wherecast.matching.ids import Ids
from wherecast.matching.kinds import load_engine, make_engine, missing_capability
from wherecast.matching.matches import Id, Matches
from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.model import ConfigError, FilterError, Problem, PublicationError, Schema
from wherecast.model.times import current_micros, time_micros
from wherecast.model.values import INT_MAX, INT_MIN, is_text

if TYPE_CHECKING:  # these load the kernels of a tree
    from wherecast.matching.trees.betree.branch import Branch, BranchFigures

_SAME_IN_ARROW = ("float", "int", "bool", "string")  # types whose values mean the same in a mapping


class Index:
    """Filters by id; `match` finds the filters that each publication satisfies.

    Ids are strings or ints, one type per index. Adding an id again replaces its filter.

    Args:
        schema: the schema of the publications and filters.
        kind: `columnar`, the fastest; `betree`, whose branches can move; `forest`, which knows
            which filters cover which; or `scan`, the reference index.
        parameters: how a tree of kind `betree` grows; other kinds take none.

    Raises:
        ConfigError: the kind is unknown, or takes no parameters.
    """

    def __init__(
        self, schema: Schema, kind: str = "columnar", parameters: TreeParameters | None = None
    ) -> None:
        self.schema = schema
        self.kind = kind
        self._engine = make_engine(kind, schema, parameters)
        self._rows = _row_matching(self._engine)
        self._id_type: type | None = None
        self._errors = RowErrors()

    @classmethod
    def from_config(cls, path: str | Path) -> "Index":
        """An empty index of kind `betree`, as a `.config` file of the elastic BE-Tree describes it.

        The file names an `.attributes` file, which is the schema, and a `.betree` file, which has
        the parameters of the tree.

        Raises:
            ConfigError: the file or its `.betree` file is wrong; the error names file and line.
            SchemaError: the `.attributes` file is wrong.
        """
        from wherecast.matching.trees.betree.elastic_config import ElasticConfig

        config = ElasticConfig.load(path)
        return cls(config.schema, "betree", config.parameters)

    def __len__(self) -> int:
        return len(self._engine)

    def __contains__(self, id: Id) -> bool:
        return id in self._engine

    def add(self, id: Id, filter: str | Filter) -> None:
        """Adds a filter, or replaces the filter of the same id.

        Raises:
            FilterError: the filter cannot be accepted; nothing changed.
            ConfigError: the id is of another type than the ids of this index.
        """
        id_type = self._checked_type(id, self._id_type)
        self._engine.add(id, self._own(filter))
        self._id_type = id_type

    def add_all(
        self, filters: Any, on_bad: Literal["raise", "skip"] = "raise"
    ) -> list[tuple[Id, FilterError]]:
        """Adds many filters at once: all or none, or with `on_bad="skip"` all good ones.

        Args:
            filters: pairs of id and filter, a mapping from id to filter, or a table with the
                columns `id` and `filter` (anything with the Arrow interface).
            on_bad: `"raise"` refuses all filters where one is bad, `"skip"` leaves bad ones out.

        Returns:
            The ids and errors of the bad filters that were left out.

        Raises:
            FilterError: a filter cannot be accepted; nothing changed.
        """
        if on_bad not in ("raise", "skip"):
            raise ConfigError(f"on_bad is 'raise' or 'skip', not {on_bad!r}")
        ids, texts, id_type = self._columns(filters)
        read = self._engine.read(texts)
        bad = [(ids[row], error) for row, error in read.rejected]
        if bad and on_bad == "raise":
            raise bad_filters(bad)
        kept = kept_rows(ids, [row for row, _ in read.rejected])
        self._engine.add_all(ids, read, kept)
        if len(ids) and (kept is None or kept.any()):
            self._id_type = id_type
        return bad

    def remove(self, id: Id) -> None:
        """Removes a filter.

        Raises:
            KeyError: there is no filter of that id.
        """
        self.remove_all([id])

    def remove_all(self, ids: Iterable[Id]) -> None:
        """Removes many filters, all or none.

        Raises:
            KeyError: there is no filter of one of the ids; nothing changed.
        """
        self._engine.remove_all(list(dict.fromkeys(ids)))

    def match(self, publications: Any, now: datetime | None = None) -> Matches:
        """The ids of the filters that each publication satisfies.

        Args:
            publications: a list of mappings, or anything with the Arrow interface (pyarrow,
                pandas, Polars, DuckDB).
            now: the value of `now()` in filters; by default the time of the call.

        Raises:
            PublicationError: the schema refuses a publication; every problem is listed.
        """
        times = current_micros() if now is None else time_micros(now)
        batch = with_now(self._valid(publications).batch, times)
        with counting(self._errors):
            return self._engine.match(batch)

    def match_one(self, publication: Any, now: datetime | None = None) -> list[Id]:
        """The ids of the filters that one publication satisfies, in no order.

        The same as `match` of a list with this publication, and much sooner with kind `columnar`.

        Args:
            publication: a mapping, or anything with the Arrow interface that has one row.
            now: the value of `now()` in filters; by default the time of the call.

        Raises:
            PublicationError: the schema refuses the publication; every problem is listed.
            ConfigError: the table has not one row.
        """
        is_plain = type(publication) is dict or isinstance(publication, Mapping)
        row = publication if is_plain else self._one_row(publication)
        if self._rows is not None and row is not None:
            times = current_micros() if now is None else time_micros(now)
            with counting(self._errors):
                found = self._rows.match_one(row, times)
            if found is not None:
                return found.to_list()
        matches = self.match([publication] if is_plain else publication, now)
        if len(matches) != 1:
            raise _not_one(f"{len(matches)} of them")
        return matches.to_pylist()[0]

    def stats(self) -> dict[str, Any]:
        """Figures about the index: its kind, the number of filters, and others by kind.

        `row_errors` has the number of errors by reason: results that are unknown since Spark would
        fail on them.
        """
        return {
            "kind": self.kind,
            "filters": len(self),
            "row_errors": self._errors.counts(),
            **self._engine.stats(),
        }

    def explain_plan(self) -> str:
        """How the index is laid out and searched, in lines of text."""
        return self._engine.explain_plan()

    def to_dot(self) -> str:
        """A picture of a small tree, of kind `betree` or `forest`, for Graphviz.

        Raises:
            ConfigError: the index is of another kind, or too large.
        """
        return self._drawable().to_dot()

    def to_svg(self) -> str:
        """A picture of a small tree, of kind `betree` or `forest`, as SVG.

        Raises:
            ConfigError: the index is of another kind, or too large.
        """
        return self._drawable().to_svg()

    def covering_set(self) -> list[Id]:
        """The sorted ids of the filters that no other filter covers, of kind `forest`.

        Filters that say the same in the same form are all in the set. Of filters that cover each
        other but differ in form, such as `a IN (6, 7)` and `a BETWEEN 6 AND 7` of an int, one is.

        Raises:
            ConfigError: the index is of another kind.
        """
        return self._covering().covering_set()

    def withdraw(self, id: Id) -> list[Id]:
        """Removes a filter from an index of kind `forest`.

        Returns:
            The sorted ids of the filters that only this one covered: they enter the covering set.

        Raises:
            KeyError: there is no filter of that id.
            ConfigError: the index is of another kind.
        """
        return self._covering().withdraw(id)

    def branches(self) -> "list[BranchFigures]":
        """The branches of an index of kind `betree`, the largest first.

        Each has `attribute`, `type`, `subscriptions` (the number of its filters), `checked` (how
        often one of them was tried on a publication) and `score`.

        Raises:
            ConfigError: the index is of another kind.
        """
        return self._branching().branches()

    def cut(self, attribute: str, type: str | None = None) -> "Branch":
        """Cuts a branch off an index of kind `betree`: its filters leave this index.

        Args:
            attribute: the name of the attribute that the branch partitions.
            type: the type of that attribute; needed where branches of two types share the name.

        Raises:
            KeyError: there is no such branch.
            ConfigError: several branches have that name, or the index is of another kind.
        """
        return self._branching().cut(attribute, type)

    def graft(self, branch: "Branch") -> None:
        """Adds the filters of a branch that was cut off another index of kind `betree`.

        The branch keeps its nodes, unless this index has a branch of the same attribute: then its
        filters are inserted one by one.

        Raises:
            ConfigError: an id is in the index already, the index has ids of another type, or it
                is of another kind; nothing changed.
            SnapshotError: the branch is damaged or does not fit the schema; nothing changed.
        """
        engine, id_type = self._branching(), self._id_type
        if len(branch.ids):
            id_type = self._checked_type(branch.ids[0], id_type)
        engine.graft(branch)
        self._id_type = id_type

    def time_branches(
        self, publications: Any, clock: Callable[[], int]
    ) -> tuple[Matches, dict[tuple[str, str], int]]:
        """The matches of publications, found branch by branch, and the clock's count for each.

        A branch is named by its attribute and type; filters outside all branches are named by two
        empty strings. These publications count neither in `stats` nor in scores. A position off
        the globe finds only the filters whose boxes enclose it.

        Args:
            publications: as `match` takes them.
            clock: read before and after each branch, such as `time.perf_counter_ns`.

        Raises:
            ConfigError: the index is not of kind `betree`.
            PublicationError: the schema refuses a publication; every problem is listed.
        """
        engine = self._branching()
        return engine.time_branches(self._valid(publications).batch, clock)

    def save(self, path: str | Path) -> str:
        """Writes the index to a file, whole or not at all; returns its content id.

        Raises:
            ConfigError: this kind of index has no file.
            SnapshotError: the file cannot be written.
        """
        return self._savable().save(Path(path))

    @classmethod
    def load(cls, path: str | Path) -> "Index":
        """The index in a file that `save` wrote.

        The file of an index of kind `columnar` is mapped, not read: it must not be changed while
        the index is in use.

        Raises:
            SnapshotError: the file is missing, damaged, or of a newer format.
        """
        kind, engine, schema, id_type = load_engine(Path(path))
        made = cls.__new__(cls)
        made.schema, made.kind, made._engine = schema, kind, engine
        made._rows = _row_matching(engine)
        made._id_type = id_type if len(engine) else None
        made._errors = RowErrors()
        return made

    def _one_row(self, table: Any) -> dict[str, Any] | None:
        """The row of a table whose columns are those of the schema; None: only `match` can tell.

        Raises:
            ConfigError: the table has not one row.
        """
        rows = getattr(table, "num_rows", None)
        if isinstance(table, list | tuple) or rows not in (None, 1):
            raise _not_one("a list of publications" if rows is None else f"a table of {rows} rows")
        if not isinstance(table, pa.RecordBatch | pa.Table) or table.schema != self._columns_of_one:
            return None
        try:
            return table.to_pylist()[0]  # type: ignore[no-any-return]
        except ValueError:  # a text that is not UTF-8, a time beyond those of Python
            return None

    @cached_property
    def _columns_of_one(self) -> pa.Schema | None:
        """The columns whose values are read as those of a mapping; None where some are not."""
        plain = all(one.type in _SAME_IN_ARROW and not one.scale for one in self.schema)
        return arrow_schema(self.schema) if plain and not self.schema.open else None

    def _drawable(self) -> Drawable:
        if not isinstance(self._engine, Drawable):
            raise missing_capability(self.kind, Drawable)
        return self._engine

    def _savable(self) -> Savable:
        if not isinstance(self._engine, Savable):
            raise missing_capability(self.kind, Savable)
        return self._engine

    def _covering(self) -> Covering:
        if not isinstance(self._engine, Covering):
            raise missing_capability(self.kind, Covering)
        return self._engine

    def _branching(self) -> Branching:
        if not isinstance(self._engine, Branching):
            raise missing_capability(self.kind, Branching)
        return self._engine

    def _valid(self, publications: Any) -> Decoded:
        if isinstance(publications, Mapping):
            raise ConfigError("match takes a list of publications, not one")
        plain = isinstance(publications, list | tuple)
        decoded = (
            decode_rows(publications, self.schema)
            if plain
            else read_arrow(publications, self.schema)
        )
        if decoded.rejected:
            raise PublicationError(
                [
                    Problem(
                        bad.code,
                        f"publication {bad.row}: {bad.message}",
                        bad.attribute,
                        bad.element,
                    )
                    for bad in decoded.rejected
                ]
            )
        return decoded

    def _columns(self, filters: Any) -> tuple[Ids, Any, type | None]:
        """The ids, the filters, and the type of the ids, from anything that `add_all` takes."""
        if hasattr(filters, "__arrow_c_stream__") or hasattr(filters, "__arrow_c_array__"):
            ids, texts = arrow_columns(filters)
            if len(ids):
                return Ids(ids), texts, self._checked_type(ids[0].as_py(), self._id_type)
            return Ids(ids), texts, self._id_type
        pairs = list(pairs_of(filters))
        id_type = self._id_type
        for id, _ in pairs:
            id_type = self._checked_type(id, id_type)
        return Ids.of([id for id, _ in pairs]), [self._own(f) for _, f in pairs], id_type

    def _own(self, filter: str | Filter) -> str | Filter:
        """The filter itself; raises `ConfigError` where it was read with another schema."""
        if isinstance(filter, Filter) and filter.schema != self.schema:
            raise ConfigError("the filter was read with another schema than the index has")
        return filter

    @staticmethod
    def _checked_type(id: object, expected: type | None) -> type:
        if isinstance(id, bool) or not isinstance(id, str | int):
            raise ConfigError(f"an id is a string or an int, not {type(id).__name__}")
        if expected is not None and not isinstance(id, expected):
            raise ConfigError(f"the ids of this index are {expected.__name__}, not {id!r}")
        if isinstance(id, int) and not INT_MIN <= id <= INT_MAX:
            raise ConfigError("an id that is an int has at most 64 bits")
        if isinstance(id, str) and not is_text(id):
            raise ConfigError(f"the id {id!r} has a lone surrogate, which is no character")
        return str if isinstance(id, str) else int


def _not_one(given: str) -> ConfigError:
    return ConfigError(f"match_one takes one publication, not {given}")


def _row_matching(engine: Engine) -> RowMatching | None:
    """The engine, where it can match a publication without a batch."""
    return engine if isinstance(engine, RowMatching) else None

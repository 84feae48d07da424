"""The public index: filters by id, matched against batches of publications."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.columns import decode_rows, read_arrow
from wherecast.columns.decoded import Decoded
from wherecast.columns.sources import table_of
from wherecast.language import Filter
from wherecast.matching.columnar.index import ColumnarIndex
from wherecast.matching.ids import Ids
from wherecast.matching.matches import Id, Matches
from wherecast.matching.scan import ScanIndex
from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.matching.trees.tree_file import kind_of
from wherecast.model import (
    ConfigError,
    FilterError,
    Problem,
    PublicationError,
    Schema,
    SnapshotError,
)
from wherecast.model.names import did_you_mean
from wherecast.model.values import INT_MAX, INT_MIN, is_text

Kind = Literal["columnar", "betree", "forest", "scan"]
KINDS: tuple[Kind, ...] = ("columnar", "betree", "forest", "scan")
_SHOWN_MAX = 3


class Engine(Protocol):
    """What every kind of index does behind the public one; filters are checked before."""

    def __len__(self) -> int: ...

    def __contains__(self, id: Id) -> bool: ...

    def add(self, id: Id, filter: Filter | str) -> None:
        """Adds a filter, or replaces the one of the same id; raises `FilterError`."""

    def read(self, filters: Any) -> Any:
        """The filters as `add_all` takes them; `rejected` has the rows and errors of bad ones."""

    def add_all(self, ids: Ids, read: Any, kept: npt.NDArray[np.bool_] | None) -> None:
        """Adds the kept ones of filters that were read, all of them good (None keeps all)."""

    def remove_all(self, ids: Sequence[Id]) -> None:
        """Removes distinct filters, all or none; raises `KeyError`."""

    def match(self, batch: pa.RecordBatch) -> Matches:
        """The filters that are true on each publication of a valid batch."""

    def stats(self) -> dict[str, Any]:
        """Figures of this kind of index."""


@runtime_checkable
class Picture(Protocol):
    """What a kind of index does that can be drawn."""

    def to_dot(self) -> str:
        """A picture for Graphviz."""

    def to_svg(self) -> str:
        """A picture as SVG."""


def _engine(kind: str, schema: Schema, parameters: TreeParameters | None) -> Engine:
    if parameters is not None and kind != "betree":
        raise ConfigError(f"an index of kind {kind} takes no tree parameters; betree does")
    if kind == "columnar":
        return ColumnarIndex(schema)
    if kind == "betree":
        from wherecast.matching.trees.betree.index import BETreeIndex

        return BETreeIndex(schema, parameters)
    if kind == "forest":
        from wherecast.matching.trees.forest.index import ForestIndex

        return ForestIndex(schema)
    if kind == "scan":
        return ScanIndex(schema)
    hint = did_you_mean(kind, KINDS) or f"there are {', '.join(KINDS)}"
    raise ConfigError(f"unknown kind of index {kind}; {hint}")


def _loaded(path: Path) -> tuple[str, Engine, Schema, type]:
    """The kind, the engine, the schema and the type of ids of the index in a file."""
    kind = kind_of(path)
    if kind == "betree":
        from wherecast.matching.trees.betree.index import BETreeIndex

        tree, id_type = BETreeIndex.load(path)
        return kind, tree, tree.schema, id_type
    if kind == "forest":
        from wherecast.matching.trees.forest.index import ForestIndex

        forest, id_type = ForestIndex.load(path)
        return kind, forest, forest.schema, id_type
    if kind != "columnar":
        raise SnapshotError(f"{path}: has an index of kind {kind}, which this version cannot read")
    engine, schema, id_type = ColumnarIndex.load(path)
    return kind, engine, schema, id_type


class Index:
    """Filters by id; `match` gives the ids of those that each publication satisfies.

    Ids are strings or ints, one type per index. Adding an id again replaces its filter. The kind
    `betree` takes parameters.
    """

    def __init__(
        self, schema: Schema, kind: str = "columnar", parameters: TreeParameters | None = None
    ) -> None:
        self.schema = schema
        self.kind = kind
        self._engine = _engine(kind, schema, parameters)
        self._id_type: type | None = None

    def __len__(self) -> int:
        return len(self._engine)

    def __contains__(self, id: Id) -> bool:
        return id in self._engine

    def add(self, id: Id, filter: str | Filter) -> None:
        """Adds a filter, or replaces the one of the same id.

        Raises:
            FilterError: the filter cannot be accepted; nothing changed.
        """
        id_type = self._checked_type(id, self._id_type)
        self._engine.add(id, self._own(filter))
        self._id_type = id_type

    def add_all(
        self, filters: Any, on_bad: Literal["raise", "skip"] = "raise"
    ) -> list[tuple[Id, FilterError]]:
        """Adds many filters: all of them, or with `on_bad="skip"` all but the bad ones.

        Args:
            filters: pairs of id and filter, a mapping, or a table with the columns `id` and
                `filter`: anything with the Arrow interface.
            on_bad: what a filter that cannot be accepted does.

        Returns:
            The bad ones that were left out, each with its error.

        Raises:
            FilterError: a filter cannot be accepted; nothing changed.
        """
        if on_bad not in ("raise", "skip"):
            raise ConfigError(f"on_bad is 'raise' or 'skip', not {on_bad!r}")
        ids, texts, id_type = self._columns(filters)
        read = self._engine.read(texts)
        bad = [(ids[row], error) for row, error in read.rejected]
        if bad and on_bad == "raise":
            raise _many(bad)
        kept = _kept(ids, [row for row, _ in read.rejected])
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
        """Removes many filters: all of them, or none where one is not there."""
        self._engine.remove_all(list(dict.fromkeys(ids)))

    def match(self, publications: Any) -> Matches:
        """The ids of the filters that each publication satisfies.

        Args:
            publications: a list of mappings, or anything with the Arrow interface.

        Raises:
            PublicationError: the schema refuses a publication; every problem is listed.
        """
        return self._engine.match(self._valid(publications).batch)

    def stats(self) -> dict[str, Any]:
        """Figures about the index."""
        return {"kind": self.kind, "filters": len(self), **self._engine.stats()}

    def to_dot(self) -> str:
        """A picture of a small tree, of kind `betree` or `forest`, for Graphviz.

        Raises:
            ConfigError: the index is no tree, or too large.
        """
        return self._tree().to_dot()

    def to_svg(self) -> str:
        """A picture of a small tree, of kind `betree` or `forest`, as SVG.

        Raises:
            ConfigError: the index is no tree, or too large.
        """
        return self._tree().to_svg()

    def _tree(self) -> Picture:
        if not isinstance(self._engine, Picture):
            raise ConfigError(f"an index of kind {self.kind} has no picture; betree and forest do")
        return self._engine

    def explain_plan(self) -> str:
        """How the index is laid out, in lines of text."""
        explain = getattr(self._engine, "explain_plan", None)
        if explain is not None:
            plan: str = explain()
            return plan
        return f"{len(self):,} filters, each evaluated on every publication"

    def save(self, path: str | Path) -> str:
        """Writes the index to a file, whole or not at all; returns its content id.

        Raises:
            ConfigError: this kind of index has no file.
            SnapshotError: the file cannot be written.
        """
        save = getattr(self._engine, "save", None)
        if save is None:
            others = "columnar, betree and forest can"
            raise ConfigError(f"an index of kind {self.kind} cannot be saved; {others}")
        content: str = save(Path(path))
        return content

    @classmethod
    def load(cls, path: str | Path) -> "Index":
        """The index in a file. One of kind `columnar` is mapped, not read, and must stay as it is.

        Raises:
            SnapshotError: it is missing, damaged, or of a newer format.
        """
        kind, engine, schema, id_type = _loaded(Path(path))
        made = cls.__new__(cls)
        made.schema, made.kind, made._engine = schema, kind, engine
        made._id_type = id_type if len(engine) else None
        return made

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
                    Problem(bad.code, f"publication {bad.row}: {bad.message}", bad.attribute)
                    for bad in decoded.rejected
                ]
            )
        return decoded

    def _columns(self, filters: Any) -> tuple[Ids, Any, type | None]:
        """The ids, the filters, and the type of the ids, from anything that `add_all` takes."""
        if hasattr(filters, "__arrow_c_stream__") or hasattr(filters, "__arrow_c_array__"):
            ids, texts = _arrow_columns(filters)
            if len(ids):
                return Ids(ids), texts, self._checked_type(ids[0].as_py(), self._id_type)
            return Ids(ids), texts, self._id_type
        pairs = list(_pairs(filters))
        id_type = self._id_type
        for id, _ in pairs:
            id_type = self._checked_type(id, id_type)
        return Ids.of([id for id, _ in pairs]), [self._own(f) for _, f in pairs], id_type

    def _own(self, filter: str | Filter) -> str | Filter:
        """The filter, refused where it was read with another schema."""
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


def _pairs(filters: Any) -> Iterator[tuple[Id, Any]]:
    """Pairs of id and filter from a mapping or an iterable of them."""
    if isinstance(filters, Mapping):
        yield from filters.items()
        return
    for pair in filters:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise ConfigError(f"expected pairs of id and filter, not {pair!r}")
        yield pair[0], pair[1]


def _arrow_columns(filters: Any) -> tuple[pa.Array, pa.Array]:
    """The columns `id` and `filter` of a table."""
    table = table_of(filters)
    missing = [name for name in ("id", "filter") if name not in table.column_names]
    if missing:
        raise ConfigError(f"a table of filters has the columns id and filter, not {missing}")
    ids, texts = table.column("id").combine_chunks(), table.column("filter").combine_chunks()
    if pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_decode()
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    if ids.null_count:
        raise ConfigError("an id is a string or an int, not NoneType")
    if pa.types.is_integer(ids.type):
        try:
            return ids.cast(pa.int64()), texts
        except pa.ArrowInvalid:
            raise ConfigError("an id that is an int has at most 64 bits") from None
    if pa.types.is_string(ids.type) or ids.type in (pa.large_string(), pa.string_view()):
        return ids.cast(pa.large_string()), texts
    if not len(ids):
        return array_of(np.zeros(0, np.int64)), texts
    raise ConfigError(f"an id is a string or an int, not {ids.type}")


def _kept(ids: Ids, bad: list[int]) -> npt.NDArray[np.bool_] | None:
    """The rows that are added: good ones, and of several with one id the last; None for all."""
    kept = np.ones(len(ids), bool)
    kept[bad] = False
    good = np.flatnonzero(kept)
    coded = ids.array.take(array_of(good)).dictionary_encode()
    if len(coded.dictionary) < len(good):
        last = np.zeros(len(coded.dictionary), np.int64)
        last[values_of(coded.indices)] = good
        kept[:] = False
        kept[last] = True
    return None if kept.all() else kept


def _many(bad: list[tuple[Id, FilterError]]) -> FilterError:
    """One error for several bad filters: the first few and the count."""
    shown = "; ".join(f"{id!r}: {error}" for id, error in bad[:_SHOWN_MAX])
    more = f" and {len(bad) - _SHOWN_MAX} more" if len(bad) > _SHOWN_MAX else ""
    first = bad[0][1]
    return FilterError(f"{len(bad)} bad filters: {shown}{more}", first.position, first.hint)

"""Peers: the same matches by joins in DuckDB and Polars, one thread each.

Each peer gets the filters once, in its own storage, and then batches of publications. The form of
each join was chosen by measurement; docs/reference/benchmarks.md lists the attempts.
"""

import os
from collections.abc import Callable, Mapping
from functools import reduce
from importlib.util import find_spec
from operator import and_
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import override

from wherecast.bench.matching.relations import Boxes, Lists, boxes_of, lists_of
from wherecast.language import PredicateTable

Form = Literal["boxes", "lists"]
Pairs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
NUMBER = "publication"  # the column that numbers the publications
_ONE_BY_ONE = 20_000  # from this number of filters, Polars is faster with a filter per publication


class Peer(Protocol):
    """Filters loaded into another engine.

    Attributes:
        threads: number of threads that the engine uses.
    """

    threads: int

    def match(self, batch: pa.RecordBatch) -> pa.Table:
        """The pairs `publication`, `number` of a batch with the column `publication`."""


class DuckDB(Peer):
    """Joins in SQL over native tables."""

    threads = 1

    def __init__(self, form: Form, table: PredicateTable, sample: pa.RecordBatch) -> None:
        import duckdb

        self._connection = duckdb.connect(config={"threads": 1})
        if form == "boxes":
            parts = enumerate(boxes_of(table))
            self._query = " UNION ALL ".join(self._boxes(f"b{at}", boxes) for at, boxes in parts)
        else:
            self._query = self._lists(lists_of(table, sample))

    @override
    def match(self, batch: pa.RecordBatch) -> pa.Table:
        self._connection.register("p", batch)
        found: pa.Table = self._connection.sql(self._query).to_arrow_table()
        return found

    def _store(self, name: str, rows: pa.Table) -> None:
        self._connection.register("given", rows)
        self._connection.execute(f"CREATE TABLE {name} AS FROM given")
        self._connection.unregister("given")

    def _boxes(self, name: str, boxes: Boxes) -> str:
        """A hash join on the keys; without keys, a block-wise join on all ranges at once."""
        self._store(name, boxes.rows)
        equal = [f'f."{key}" = p."{key}"' for key in boxes.keys]
        attributes = dict.fromkeys((*boxes.lows, *boxes.highs))
        inside = [_range(one, one in boxes.lows, one in boxes.highs) for one in attributes]
        if not equal:  # hidden from the planner, whose merge joins take up to four times as long
            inside = [f"({test}) = true" for test in inside]
        tests = " AND ".join([*equal, *inside]) or "true"
        return f"SELECT p.{NUMBER}, f.number FROM p JOIN {name} f ON {tests}"

    def _lists(self, lists: Lists) -> str:
        """Candidates by the rarest predicate of each filter; the others are joined and counted."""
        for part in ("first_ranges", "first_texts", "other_ranges", "other_texts", "sizes"):
            self._store(part, getattr(lists, part))
        numeric, textual = _melted(lists.numeric, "DOUBLE"), _melted(lists.textual, "VARCHAR")
        inside = "(v.value BETWEEN f.low AND f.high) <> f.negated"
        again = "c.number = f.number"
        counted = f"SELECT c.{NUMBER}, c.number FROM candidates c JOIN"
        here = f"v.{NUMBER} = c.{NUMBER} AND v.attribute = f.attribute"
        return f"""
            WITH numbers AS MATERIALIZED ({numeric}), texts AS MATERIALIZED ({textual}),
            candidates AS MATERIALIZED (
                SELECT v.{NUMBER}, f.number FROM numbers v JOIN first_ranges f
                    ON f.attribute = v.attribute AND {inside}
                UNION ALL SELECT v.{NUMBER}, f.number FROM texts v JOIN first_texts f
                    ON f.attribute = v.attribute AND f.text = v.value),
            others AS (
                {counted} other_ranges f ON {again} JOIN numbers v ON {here} AND {inside}
                UNION ALL
                {counted} other_texts f ON {again} JOIN texts v ON {here} AND v.value = f.text),
            held AS (SELECT {NUMBER}, number, count(*) AS others FROM others GROUP BY ALL)
            SELECT {NUMBER}, number FROM held JOIN sizes USING (number, others)
            UNION ALL SELECT {NUMBER}, number FROM candidates ANTI JOIN sizes USING (number)"""


def _range(name: str, low: bool, high: bool) -> str:
    """The test of one range; BETWEEN takes half the time of two comparisons."""
    if low and high:
        return f'p."{name}" BETWEEN f."{name}_low" AND f."{name}_high"'
    return f'p."{name}" >= f."{name}_low"' if low else f'p."{name}" <= f."{name}_high"'


def _melted(names: tuple[str, ...], type_: str) -> str:
    """The values of a batch as rows of publication, attribute and value."""
    if not names:
        return f"SELECT 0::INTEGER AS {NUMBER}, '' AS attribute, NULL::{type_} AS value WHERE false"
    columns = ", ".join(f'"{name}"' for name in names)
    source = f"SELECT {NUMBER}, {columns} FROM p"
    return f"FROM (UNPIVOT ({source}) ON {columns} INTO NAME attribute VALUE value)"


class Polars(Peer):
    """Lazy joins over data frames; hash joins by the streaming engine."""

    def __init__(self, form: Form, table: PredicateTable, sample: pa.RecordBatch) -> None:
        os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when it is first imported
        import polars

        self._polars = polars
        self.threads = polars.thread_pool_size()
        self._run: Callable[[Any], Any]
        if form == "boxes":
            self._parts = [(boxes, self._frame(boxes.rows)) for boxes in boxes_of(table)]
            self._run = self._match_boxes
        else:
            self._lists = lists_of(table, sample)
            self._frames = {
                part: self._frame(getattr(self._lists, part))
                for part in ("first_ranges", "first_texts", "other_ranges", "other_texts", "sizes")
            }
            self._run = self._match_lists

    @override
    def match(self, batch: pa.RecordBatch) -> pa.Table:
        found: pa.Table = self._run(self._frame(batch)).to_arrow()
        return found

    def _frame(self, rows: Any) -> Any:
        return self._polars.DataFrame(rows).lazy()

    def _match_boxes(self, batch: Any) -> Any:
        """A hash join on the keys, then the ranges.

        Without keys: a range join or, from `_ONE_BY_ONE` filters, a filter per publication.
        """
        pl = self._polars
        found = []
        for boxes, rows in self._parts:
            if not boxes.keys and boxes.rows.num_rows >= _ONE_BY_ONE:
                found.append(self._match_one_by_one(batch, boxes, rows))
                continue
            lows = [pl.col(one) >= pl.col(f"{one}_low") for one in boxes.lows]
            highs = [pl.col(one) <= pl.col(f"{one}_high") for one in boxes.highs]
            inside = [
                *lows[:1],
                *highs[-1:],
                *lows[1:],
                *highs[:-1],
            ]  # Polars joins by the first two
            if boxes.keys:
                joined = batch.join(rows, on=list(boxes.keys))
                joined = joined.filter(pl.all_horizontal(inside)) if inside else joined
            else:
                joined = batch.join_where(rows, *inside)
            engine = "streaming" if boxes.keys else "in-memory"
            found.append(joined.select(NUMBER, "number").collect(engine=engine))
        return pl.concat(found)

    def _match_one_by_one(self, batch: Any, boxes: Boxes, rows: Any) -> Any:
        """The matches of each publication, by a test of all filters."""
        pl, filters, found = self._polars, rows.collect(), []
        for row in batch.collect().iter_rows(named=True):
            tests = [pl.col(f"{one}_low") <= row[one] for one in boxes.lows]
            tests += [pl.col(f"{one}_high") >= row[one] for one in boxes.highs]
            numbers = filters.filter(reduce(and_, tests)).get_column("number")
            found.append((row[NUMBER], numbers))
        publications = np.repeat(
            np.array([publication for publication, _ in found], np.int32),
            [len(numbers) for _, numbers in found],
        )
        numbers = pl.concat([numbers for _, numbers in found])
        return pl.DataFrame({NUMBER: publications, "number": numbers})

    def _match_lists(self, batch: Any) -> Any:
        """Candidates by the rarest predicate of each filter; the others are joined and counted."""
        pl, frames = self._polars, self._frames
        numbers = self._melted(batch, self._lists.numeric, pl.Float64)
        texts = self._melted(batch, self._lists.textual, pl.String)
        inside = pl.col("value").is_between("low", "high") != pl.col("negated")
        pair = [NUMBER, "number"]
        by_range = numbers.join(frames["first_ranges"], on="attribute").filter(inside)
        by_text = texts.join(
            frames["first_texts"], left_on=["attribute", "value"], right_on=["attribute", "text"]
        )
        candidates = self._done(by_range.select(pair), by_text.select(pair))
        more = candidates.join(frames["sizes"], on="number", how="semi")
        in_range = more.join(frames["other_ranges"], on="number")
        in_range = in_range.join(numbers, on=[NUMBER, "attribute"]).filter(inside)
        in_text = more.join(frames["other_texts"], on="number").join(
            texts,
            left_on=[NUMBER, "attribute", "text"],
            right_on=[NUMBER, "attribute", "value"],
        )
        others = pl.concat([in_range.select(pair), in_text.select(pair)])
        held = others.group_by(pair).agg(others=pl.len().cast(pl.Int64))
        held = held.join(frames["sizes"], on=["number", "others"]).select(pair)
        alone = candidates.join(frames["sizes"], on="number", how="anti")
        return pl.concat([held, alone]).collect(engine="streaming")

    def _melted(self, batch: Any, names: tuple[str, ...], type_: Any) -> Any:
        """The values of a batch as rows of publication, attribute and value."""
        pl = self._polars
        if not names:
            columns = {NUMBER: pl.Int32, "attribute": pl.String, "value": type_}
            return pl.LazyFrame(schema=columns)
        melted = batch.select(NUMBER, *names).unpivot(index=NUMBER, variable_name="attribute")
        return melted.drop_nulls("value").collect().lazy()

    def _done(self, *parts: Any) -> Any:
        """The rows of all parts, computed once."""
        return self._polars.concat(parts).collect(engine="streaming").lazy()


PEERS: Mapping[str, Callable[[Form, PredicateTable, pa.RecordBatch], Peer]] = MappingProxyType(
    {"duckdb": DuckDB, "polars": Polars}
)


def is_installed(name: str) -> bool:
    """Whether a peer's library can be imported."""
    return find_spec(name) is not None


def numbered(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch with the numbers of its publications as a column."""
    numbers = pa.array(np.arange(batch.num_rows, dtype=np.int32))
    names = [*batch.schema.names, NUMBER]
    return pa.RecordBatch.from_arrays([*batch.columns, numbers], names=names)


def pairs_of(found: pa.Table) -> Pairs:
    """The publications and the filter numbers of a peer's matches."""
    columns = (found.column(NUMBER), found.column("number"))
    publications, numbers = (column.to_numpy().astype(np.int64) for column in columns)
    return publications, numbers

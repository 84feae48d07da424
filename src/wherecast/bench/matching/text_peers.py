"""Peers for filters that are no single conjunction, loaded from their texts.

Nothing of the filter language takes part: regular expressions read the constants of the workloads
`alerts_or`, `tags` and `rules`, so a peer also judges how the language reads the filters.
"""

import os
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import override

from wherecast.bench.matching.peers import NUMBER, Peer

TextForm = Literal["either", "tags", "rules"]
_EITHER = (
    r"^(?:city = '(?P<city>\w+)' AND \()?no2 > (?P<no2>[0-9.e-]+) OR pm10 > (?P<pm10>[0-9.e-]+)"
)
_JOINS = 20  # of a statement
_TAG = re.compile(r"'([^']*)'")
_CONSTANT = re.compile(r"('[^']*'|(?<=[<>=DN] )-?[0-9]+\.[0-9]+)")


def either_rows(texts: pa.ChunkedArray) -> pa.Table:
    """The filters of `alerts_or`: `city` unless all are wide, `no2`, `pm10`, `number`."""
    found = pc.extract_regex(texts.combine_chunks(), _EITHER)
    cities = found.field("city")
    columns = {name: found.field(name).cast(pa.float64()) for name in ("no2", "pm10")}
    columns["number"] = pa.array(np.arange(len(texts), dtype=np.int32))
    if pc.all(pc.equal(cities, "")).as_py():
        return pa.table(columns)
    return pa.table({"city": cities, **columns}).sort_by("city")


def tag_rows(texts: pa.ChunkedArray) -> pa.Table:
    """The filters of `tags`, a row per tag: `number`, `tag`, and the count `wanted` of tags."""
    plain = texts.to_pylist()
    named = [_TAG.findall(text) for text in plain]
    sizes = np.array([len(tags) for tags in named])
    overlaps = np.array([text.startswith("arrays_overlap") for text in plain])
    return pa.table(
        {
            "number": np.repeat(np.arange(len(plain), dtype=np.int32), sizes),
            "tag": [tag for tags in named for tag in tags],
            "wanted": np.repeat(np.where(overlaps, 1, sizes), sizes),
        }
    )


def rule_shapes(texts: pa.ChunkedArray) -> dict[str, pa.Table]:
    """The filters of `rules` by shape: the condition, and the columns `number`, `c0`, `c1`, …."""
    members: dict[tuple[str, ...], list[tuple[int, list[str]]]] = {}
    for number, text in enumerate(texts.to_pylist()):
        parts = _CONSTANT.split(text)
        members.setdefault(tuple(parts[::2]), []).append((number, parts[1::2]))
    return {_condition(shape): _constants(found) for shape, found in members.items()}


def _condition(shape: tuple[str, ...]) -> str:
    """The shape with a column of `f` for each constant."""
    first, *rest = (re.sub(r"\b([fs][0-9]+)\b", r"p.\1", part) for part in shape)
    return first + "".join(f"f.c{place}{part}" for place, part in enumerate(rest))


def _constants(found: list[tuple[int, list[str]]]) -> pa.Table:
    columns: dict[str, Any] = {"number": pa.array([number for number, _ in found], pa.int32())}
    for place, values in enumerate(zip(*(constants for _, constants in found), strict=True)):
        quoted = values[0].startswith("'")
        columns[f"c{place}"] = (
            [each[1:-1] for each in values] if quoted else list(map(float, values))
        )
    return pa.table(columns)


class _DuckDB(Peer):
    """Joins in SQL over native tables, one thread."""

    threads = 1

    def __init__(self) -> None:
        import duckdb

        self._connection = duckdb.connect(config={"threads": 1})
        self._query = ""

    @override
    def match(self, batch: pa.RecordBatch) -> pa.Table:
        self._connection.register("p", batch)
        found: pa.Table = self._connection.sql(self._query).to_arrow_table()
        return found

    def _store(self, name: str, rows: pa.Table) -> None:
        self._connection.register("given", rows)
        self._connection.execute(f"CREATE TABLE {name} AS FROM given")
        self._connection.unregister("given")


class EitherDuckDB(_DuckDB):
    """A hash join on the city, then both thresholds; without cities, all pairs block by block."""

    def __init__(self, texts: pa.ChunkedArray) -> None:
        super().__init__()
        rows = either_rows(texts)
        self._store("f", rows)
        either = "(p.no2 > f.no2 OR p.pm10 > f.pm10)"
        tests = f"p.city = f.city AND {either}" if "city" in rows.column_names else either
        self._query = f"SELECT p.{NUMBER}, f.number FROM p JOIN f ON {tests}"


class TagsDuckDB(_DuckDB):
    """Both sides unnested, a hash join on the tag, and the tags of each pair counted."""

    def __init__(self, texts: pa.ChunkedArray) -> None:
        super().__init__()
        self._store("f", tag_rows(texts))
        self._query = f"""
            SELECT {NUMBER}, number
            FROM (SELECT DISTINCT {NUMBER}, unnest(tags) AS tag FROM p) JOIN f USING (tag)
            GROUP BY {NUMBER}, number HAVING count(*) >= max(wanted)"""


class RulesDuckDB(_DuckDB):
    """One table and one join for each shape, twenty joins in a prepared statement."""

    def __init__(self, texts: pa.ChunkedArray) -> None:
        super().__init__()
        joins = []
        for at, (condition, rows) in enumerate(rule_shapes(texts).items()):
            self._store(f"shape{at}", rows)
            joins.append(f"SELECT p.{NUMBER}, f.number FROM p JOIN shape{at} f ON {condition}")
        starts = range(0, len(joins), _JOINS)
        self._unions = [" UNION ALL ".join(joins[at : at + _JOINS]) for at in starts]
        self._is_prepared = False

    @override
    def match(self, batch: pa.RecordBatch) -> pa.Table:
        self._connection.register("given", batch)
        if not self._is_prepared:
            self._prepare()
        self._connection.execute("DELETE FROM p; INSERT INTO p FROM given")
        runs = (f"EXECUTE union{at}" for at in range(len(self._unions)))
        return pa.concat_tables([self._connection.sql(run).to_arrow_table() for run in runs])

    def _prepare(self) -> None:
        """Plans the joins; a first batch shows the columns of publications."""
        self._connection.execute("CREATE TABLE p AS FROM given")
        for at, union in enumerate(self._unions):
            self._connection.execute(f"PREPARE union{at} AS {union}")
        self._is_prepared = True


class EitherPolars(Peer):
    """A hash join on the city by the streaming engine; without cities, a filter per publication."""

    def __init__(self, texts: pa.ChunkedArray) -> None:
        os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when it is first imported
        import polars

        self._polars = polars
        self.threads = polars.thread_pool_size()
        self._rows = polars.DataFrame(either_rows(texts))

    @override
    def match(self, batch: pa.RecordBatch) -> pa.Table:
        pl = self._polars
        sent = pl.DataFrame(batch)
        if "city" in self._rows.columns:
            joined = sent.lazy().join(self._rows.lazy(), on="city", suffix="_least")
            passed = joined.filter(
                (pl.col("no2") > pl.col("no2_least")) | (pl.col("pm10") > pl.col("pm10_least"))
            )
            found = passed.select(NUMBER, "number").collect(engine="streaming")
        else:
            found = pl.concat([self._one(row) for row in sent.iter_rows(named=True)])
        table: pa.Table = found.to_arrow()
        return table

    def _one(self, row: Mapping[str, Any]) -> Any:
        """The matches of one publication, by a test of all filters."""
        pl = self._polars
        passed = (pl.col("no2") < row["no2"]) | (pl.col("pm10") < row["pm10"])
        publication = pl.lit(row[NUMBER], pl.Int32).alias(NUMBER)
        return self._rows.filter(passed).select(publication, "number")


class TagsPolars(Peer):
    """Both sides unnested, a hash join on the tag, and the tags of each pair counted."""

    def __init__(self, texts: pa.ChunkedArray) -> None:
        os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when it is first imported
        import polars

        self._polars = polars
        self.threads = polars.thread_pool_size()
        self._rows = polars.DataFrame(tag_rows(texts)).lazy()

    @override
    def match(self, batch: pa.RecordBatch) -> pa.Table:
        pl = self._polars
        sent = pl.DataFrame(batch).lazy().select(NUMBER, tag="tags").explode("tag").unique()
        joined = sent.join(self._rows, on="tag").group_by(NUMBER, "number")
        counted = joined.agg(pl.len().alias("tags"), pl.col("wanted").max())
        held = counted.filter(pl.col("tags") >= pl.col("wanted")).select(NUMBER, "number")
        found: pa.Table = held.collect(engine="streaming").to_arrow()
        return found


TEXT_PEERS: Mapping[TextForm, Mapping[str, Callable[[pa.ChunkedArray], Peer]]] = MappingProxyType(
    {
        "either": {"duckdb": EitherDuckDB, "polars": EitherPolars},
        "tags": {"duckdb": TagsDuckDB, "polars": TagsPolars},
        "rules": {"duckdb": RulesDuckDB},
    }
)
"""The engines of each form, by name."""

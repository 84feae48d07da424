"""Peers: the joins in Spark SQL that users write without `match`.

Filters are rows with exact, closed bounds and, for string attributes, a string or an array of
strings. The rows are stored beforehand, with their cells; a join reads and broadcasts them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from wherecast.bench.matching.relations import Boxes, boxes_of
from wherecast.bench.matching.text_peers import either_rows
from wherecast.bench.spark.frames import PUBLICATION, stored
from wherecast.language import read_filters
from wherecast.model import Schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Join:
    """The form of a join.

    Attributes:
        name: the name of the join in rows.
        keys: string attributes that are joined by equality; a filter has a row per string.
        cells: attributes whose values are divided into cells and joined by equality of the cells;
            a filter has a row per cell that it covers.
        width: the width of a cell.
        either: whether a publication inside one of the ranges of a filter matches; else it must
            be inside all of them.

    Without keys and cells Spark tries all pairs: a broadcast nested loop.
    """

    name: str
    keys: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    width: float = 0.0
    either: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PreparedJoin:
    """Filters stored for a join.

    Attributes:
        join: the form of the join.
        boxes: the bounds of the filters.
        rows: the stored filters: `id`, bounds, keys or arrays of them, cells.
        count: number of stored rows.
    """

    join: Join
    boxes: Boxes
    rows: "DataFrame"
    count: int

    def pairs(self, publications: "DataFrame") -> "DataFrame":
        """The publications with `filter_id`, a row per match."""
        import pyspark.sql.functions as fn

        names = publications.columns
        for name in self.join.cells:
            publications = publications.withColumn(f"cell_{name}", _cell(name, self.join.width))
        filters = fn.broadcast(self.rows.alias("f"))
        joined = publications.alias("p").join(filters, fn.expr(" AND ".join(self._tests())))
        return joined.select(*(f"p.{name}" for name in names), fn.col("f.id").alias("filter_id"))

    def _tests(self) -> Iterator[str]:
        for name in self.join.keys:
            yield f"p.{name} = f.{name}"
        for name in self.join.cells:
            yield f"p.cell_{name} = f.cell_{name}"
        boxes = self.boxes
        names = dict.fromkeys((*boxes.lows, *boxes.highs))
        ranges = [_range(name, name in boxes.lows, name in boxes.highs) for name in names]
        yield from [f"({' OR '.join(ranges)})"] if self.join.either else ranges
        for name in self.boxes.keys:
            if name not in self.join.keys:
                yield f"array_contains(f.{name}, p.{name})"


def boxes_from(texts: pa.ChunkedArray, schema: Schema) -> Boxes:
    """The filters of a workload as rows; the number of a filter is its id."""
    [boxes] = boxes_of(read_filters(texts, schema))
    return boxes


def either_from(texts: pa.ChunkedArray) -> Boxes:
    """The filters of `alerts_or` as rows: a city and the least values above both thresholds."""
    rows = either_rows(texts)
    for place, name in enumerate(("no2", "pm10"), start=1):
        above = np.nextafter(rows.column(name).to_numpy(), np.inf)
        rows = rows.set_column(place, f"{name}_low", pa.array(above))
    return Boxes(("city",), ("no2", "pm10"), (), rows)


def prepare(spark: "SparkSession", join: Join, boxes: Boxes, home: Path) -> PreparedJoin:
    """Stores the filters in the form that a join needs, in a directory of their own."""
    import pyspark.sql.functions as fn

    assert PUBLICATION not in boxes.rows.column_names
    plain = boxes.rows if set(boxes.keys) <= set(join.keys) else _group_strings(boxes)
    ids = plain.column("number").cast(pa.int64())
    frame = stored(spark, plain.drop_columns("number").append_column("id", ids), home / "plain")
    if not join.cells:
        return PreparedJoin(join, boxes, frame, plain.num_rows)
    for name in join.cells:
        ends = (_cell(f"{name}_{end}", join.width) for end in ("low", "high"))
        frame = frame.withColumn(f"cell_{name}", fn.explode(fn.sequence(*ends)))
    frame.write.parquet(str(home / "cells"))
    frame = spark.read.parquet(str(home / "cells"))
    return PreparedJoin(join, boxes, frame, frame.count())


def _group_strings(boxes: Boxes) -> pa.Table:
    """One row per filter, with its strings as arrays."""
    same = [name for name in boxes.rows.column_names if name not in ("number", *boxes.keys)]
    grouped = boxes.rows.group_by("number").aggregate(
        [*((name, "min") for name in same), *((key, "distinct") for key in boxes.keys)]
    )
    names = {f"{name}_min": name for name in same}
    names |= {f"{key}_distinct": key for key in boxes.keys}
    return grouped.rename_columns([names.get(name, name) for name in grouped.column_names])


def _cell(name: str, width: float) -> "Column":
    import pyspark.sql.functions as fn

    return fn.floor(fn.col(name) / fn.lit(width))


def _range(name: str, low: bool, high: bool) -> str:
    if low and high:
        return f"p.{name} BETWEEN f.{name}_low AND f.{name}_high"
    return f"p.{name} >= f.{name}_low" if low else f"p.{name} <= f.{name}_high"

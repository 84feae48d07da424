"""A run as figures and flat arrays, and back: what a file of an index holds."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.language.filter import read_expression
from wherecast.language.table.attribute_names import attribute_name, attribute_of
from wherecast.language.table.predicate_table import Distances, PredicateTable
from wherecast.language.text.write import write
from wherecast.matching.columnar.cells import Quantisers
from wherecast.matching.columnar.packed import PackedTrees
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.columnar.runs import Run
from wherecast.matching.columnar.search.residual_checks import LaterRows
from wherecast.matching.columnar.snapshot import Snapshot, programs_of
from wherecast.matching.ids import Ids
from wherecast.matching.index_file import map_file, write_file
from wherecast.model import DEFAULT_LIMITS, Schema
from wherecast.model.schema_files import read_back

Arrays = dict[str, npt.NDArray[Any]]
_TABLE = (
    "conjunction_offsets",
    "predicate_offsets",
    "attribute",
    "kind",
    "low",
    "high",
    "set_keys",
)
_PACKED = tuple(f.name for f in fields(PackedTrees)[1:])
_PLANNED = ("forest.", "cells.")  # how the file names the arrays of packed trees
_CELLS = tuple(f.name for f in fields(Quantisers))


class SavedLeaves(Sequence[Any]):
    """Predicates as texts, read when they are asked for."""

    def __init__(self, texts: pa.Array, schema: Schema) -> None:
        self._texts = texts
        self._read = lru_cache(maxsize=65_536)(
            lambda text: read_expression(text, schema, DEFAULT_LIMITS)
        )

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, place: Any) -> Any:
        return self._read(self._texts[place].as_py())


def save_run(run: Run, schema: Schema, path: Path, samples: Sequence[pa.RecordBatch] = ()) -> str:
    """Writes a run without hidden filters to a file; returns its content id.

    Args:
        run: in the order of its ids, so that the same filters give the same content id.
        schema: what its filters were read with.
        path: of the file.
        samples: of publications, from which the planner learns where the trees are built now.
    """
    if run.snapshot.has_trees:
        run.snapshot.packed_trees(samples)
    return write_file(path, *run_to_arrays(run, schema), _PLANNED)


def load_run(path: Path) -> tuple[Run, Schema]:
    """The run in a file, which is mapped and must stay as it is, and its schema.

    Raises:
        SnapshotError: the file is missing, damaged, or of a newer format.
    """
    figures, arrays, _ = map_file(path)
    return run_from_arrays(figures, arrays)


def run_to_arrays(run: Run, schema: Schema) -> tuple[dict[str, Any], Arrays]:
    """The figures and arrays of a run without hidden filters."""
    snapshot, table = run.snapshot, run.snapshot.table
    arrays: Arrays = {f"table.{name}": getattr(table, name) for name in (*_TABLE, "jumps")}
    arrays |= {
        f"table.distances.{f.name}": getattr(table.distances, f.name) for f in fields(Distances)
    }
    for name, texts in (
        ("table.strings", table.strings),
        ("table.patterns", [write(leaf) for leaf in table.patterns]),
        ("table.residuals", [write(leaf) for leaf in table.residuals]),
    ):
        put_strings(arrays, name, texts)
    for name, predicates in (("plain", snapshot.plain), ("boxed", snapshot.boxed)):
        arrays |= {f"{name}.{f.name}": getattr(predicates, f.name) for f in fields(Predicates)}
    arrays |= {"later.offsets": snapshot.later.offsets, "later.rows": snapshot.later.rows}
    arrays |= {"filters": snapshot.filters}
    packed = snapshot.packed_trees() if snapshot.has_trees else None
    if packed is not None:
        arrays |= {f"forest.{name}": getattr(packed, name) for name in _PACKED}
        arrays |= {f"cells.{name}": getattr(packed.quantisers, name) for name in _CELLS}
    if run.ids.is_text:
        put_strings(arrays, "ids", run.ids.array)
    else:
        arrays["ids"] = values_of(run.ids.array)
    figures = {
        "schema": schema.to_dict(),
        "open": schema.open,
        "unsupported": dict(schema.unsupported),
        "ids": "string" if run.ids.is_text else "int",
        "attributes": [list(attribute_name(a)) for a in table.attributes],
    }
    return figures, arrays


def run_from_arrays(figures: dict[str, Any], arrays: Arrays) -> tuple[Run, Schema]:
    """The run and the schema of figures and arrays; large arrays stay where they are."""
    schema = read_back(figures["schema"], figures["open"], figures["unsupported"])
    table = PredicateTable(
        attributes=tuple(attribute_of(schema, name, kind) for name, kind in figures["attributes"]),
        **{name: arrays[f"table.{name}"] for name in _TABLE},
        jumps=arrays.get("table.jumps", _no_jumps(arrays)),
        strings=get_strings(arrays, "table.strings"),
        patterns=SavedLeaves(get_strings(arrays, "table.patterns"), schema),  # type: ignore[arg-type]
        distances=Distances(**_under(arrays, "table.distances.")),
        residuals=SavedLeaves(get_strings(arrays, "table.residuals"), schema),  # type: ignore[arg-type]
        rejected=(),
        shapes=0,
    )
    snapshot = Snapshot(
        table,
        programs_of(table),
        Predicates(**_under(arrays, "plain.")),
        Predicates(**_under(arrays, "boxed.")),
        LaterRows(arrays["later.offsets"], arrays["later.rows"]),
        arrays["filters"],
        _packed=_packed_trees(arrays) if "forest.headers" in arrays else None,
    )
    is_text = figures["ids"] == "string"
    ids = get_strings(arrays, "ids") if is_text else array_of(arrays["ids"])
    return Run(Ids(ids), snapshot), schema


def _packed_trees(arrays: Arrays) -> PackedTrees:
    """The packed trees of a file; one from before there were mixed groups has none."""
    found = {"outcomes": np.zeros((0, 2), np.uint64)} | _under(arrays, "forest.")
    return PackedTrees(Quantisers(**_under(arrays, "cells.")), **found)


def _no_jumps(arrays: Arrays) -> npt.NDArray[np.uint32]:
    """The jumps of a file from before there were programs."""
    return np.zeros(len(arrays["table.kind"]), np.uint32)


def _under(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> dict[str, Any]:
    """The arrays whose names start with a prefix, by the rest of their names."""
    return {n[len(prefix) :]: array for n, array in arrays.items() if n.startswith(prefix)}


def put_strings(arrays: Arrays, name: str, texts: Any) -> None:
    """Puts strings to arrays: where each ends, and their bytes."""
    column = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
    column = pa.concat_arrays([column.cast(pa.large_string())])
    _, offsets, data = column.buffers()
    size = len(column) + 1
    arrays[f"{name}.offsets"] = (
        np.frombuffer(offsets, np.int64, size) if len(column) else np.zeros(1, np.int64)
    )
    end = int(arrays[f"{name}.offsets"][-1])
    arrays[f"{name}.data"] = np.frombuffer(data, np.uint8, end) if end else np.zeros(0, np.uint8)


def get_strings(arrays: Arrays, name: str) -> pa.Array:
    """The strings that `put_strings` put."""
    offsets, data = arrays[f"{name}.offsets"], arrays[f"{name}.data"]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, *buffers[1:])

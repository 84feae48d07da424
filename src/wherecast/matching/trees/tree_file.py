"""A stored index as figures and flat arrays, and back: what its file holds.

The file is that of `columnar.file`. It holds the texts of the filters, which are read again when it
is loaded, and what the kind of index adds: how its filters are arranged.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.matching.columnar.run_arrays import get_strings, put_strings
from wherecast.matching.ids import Ids
from wherecast.matching.index_file import damaged_parts, map_file, write_file
from wherecast.model import Schema, SnapshotError
from wherecast.model.schema_files import read_back

Arrays = dict[str, npt.NDArray[Any]]
PLANNED = ("layout.",)  # arrays that do not change what the index answers


def save_filters(
    path: Path, figures: dict[str, Any], schema: Schema, ids: Ids, more: Arrays
) -> str:
    """Writes filters, in the order of their ids, and more arrays; returns the content id.

    Args:
        path: of the file.
        figures: the kind of index and its parameters.
        schema: what the filters were read with.
        ids: of the filters.
        more: their texts and, under `layout.`, how they are arranged.
    """
    arrays: Arrays = {}
    if ids.is_text:
        put_strings(arrays, "ids", ids.array)
    else:
        arrays["ids"] = values_of(ids.array)
    about = {
        **figures,
        "schema": schema.to_dict(),
        "open": schema.open,
        "unsupported": dict(schema.unsupported),
        "ids": "string" if ids.is_text else "int",
        "filters": len(ids),
    }
    return write_file(path, about, {**arrays, **more}, PLANNED)


def kind_of(path: Path) -> str:
    """The kind of the index in a file.

    Raises:
        SnapshotError: it is missing, damaged, or of a newer format.
    """
    figures, _, _ = map_file(path)
    kind: str = figures.get("kind", "columnar")
    return kind


def load_filters(path: Path) -> tuple[dict[str, Any], Arrays, Schema, Ids, pa.Array]:
    """The figures, arrays, schema, ids and texts in a file, all of which is read.

    Raises:
        SnapshotError: it is missing, damaged, or of a newer format.
    """
    wrong = damaged_parts(path)
    if wrong:
        raise SnapshotError(f"{path}: is damaged in {', '.join(wrong)}")
    figures, arrays, _ = map_file(path)
    schema = read_back(figures["schema"], figures["open"], figures["unsupported"])
    is_text = figures["ids"] == "string"
    ids = get_strings(arrays, "ids") if is_text else array_of(np.array(arrays["ids"]))
    return figures, arrays, schema, Ids(ids), get_strings(arrays, "texts")

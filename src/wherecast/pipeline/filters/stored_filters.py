"""Filters as blobs: the stored files of filters and their names.

    FilterPart ──store_part──▶ StoredPart ──▶ StoredFilters ──load──▶ LoadedFilters
                (files)         (names)        (small, picklable)      (mapped files)

The name of a blob is the digest of its content, so a name never stands for two contents.
`filter_loading` reads the blobs. Snapshots of live subscriptions use the same blobs.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.language.table.attribute_names import attribute_of
from wherecast.matching import IndexPart
from wherecast.model import Attribute, ConfigError, Schema
from wherecast.model.errors import reason_of
from wherecast.model.schema_files import read_back
from wherecast.pipeline.filters.filter_table import (
    FilterPart,
    FilterReading,
    OnBad,
    RejectedFilter,
    assemble,
)
from wherecast.pipeline.filters.loaded_filters import named_by
from wherecast.store.blobs.blobs import Blobs
from wherecast.store.blobs.host_cache import blob_name

counters: Counter[str] = Counter()  # of this process: parts stored, parts mapped, filters loaded
_REJECTED = pa.schema(
    [("filter", pa.large_string()), ("error", pa.string()), ("position", pa.int64())]
)


@dataclass(frozen=True, slots=True)
class StoredPart:
    """The blobs of a part.

    Attributes:
        filters: number of filters, hidden ones included.
        never: number of visible filters that can never match.
        nbytes: size of the index in bytes.
        attributes: names and types of the attributes that the visible filters name.
        content: the content id of the index: equal for equal filters.
        index, texts: the blobs of the index and of the texts.
        kept: the blob of the further columns, None if there are none.
        hidden: the blob with the positions of hidden filters, None if there are none.
        hidden_count: number of hidden filters.
    """

    filters: int
    never: int
    nbytes: int
    attributes: tuple[tuple[str, Any], ...]
    content: str
    index: str
    texts: str
    kept: str | None = None
    hidden: str | None = None
    hidden_count: int = 0

    def __len__(self) -> int:
        """Number of visible filters."""
        return self.filters - self.hidden_count

    @property
    def mapped(self) -> tuple[str, ...]:
        """The blobs that matching needs."""
        return tuple(name for name in (self.index, self.kept, self.hidden) if name)

    @property
    def blobs(self) -> tuple[str, ...]:
        """All blobs."""
        return (*self.mapped, self.texts)


@dataclass(frozen=True)
class StoredFilters:
    """Filters by the names of their blobs.

    Attributes:
        schema: the schema of the filters.
        enforced: whether publications that violate the schema are refused.
        columns: the id and the further columns, as JSON of Spark's types.
        id_type: the Arrow type of the ids.
        parts: the parts that hold the filters.
        rejected: the blob of the rejected filters, None if there are none.
        rejected_count: number of rejected filters.
    """

    schema: Schema
    enforced: bool
    columns: str
    id_type: str
    parts: tuple[StoredPart, ...]
    rejected: str | None = None
    rejected_count: int = 0

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def __hash__(self) -> int:
        return hash((self.blobs, self.columns))  # a schema has no hash

    @property
    def named(self) -> tuple[Attribute, ...]:
        """The attributes that the filters name."""
        return self._named_by[0]

    @property
    def reads_now(self) -> bool:
        """Whether a filter has `now()`."""
        return self._named_by[1]

    @cached_property
    def _named_by(self) -> tuple[tuple[Attribute, ...], bool]:
        return named_by([attribute_of(self.schema, *a) for a in p.attributes] for p in self.parts)

    @property
    def mapped(self) -> tuple[str, ...]:
        """The blobs that matching needs."""
        return tuple(name for part in self.parts for name in part.mapped)

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """A key that is equal for filters with equal results."""
        return self.mapped, self.enforced, self.columns, self.id_type, repr(self.schema)

    @property
    def blobs(self) -> tuple[str, ...]:
        """All blobs."""
        own = () if self.rejected is None else (self.rejected,)
        return (*own, *(name for part in self.parts for name in part.blobs))

    def to_dict(self) -> dict[str, Any]:
        """The content of a manifest, which `from_dict` reads."""
        return {
            "schema": schema_dict(self.schema),
            "enforced": self.enforced,
            "columns": json.loads(self.columns),
            "id_type": self.id_type,
            "parts": [asdict(part) for part in self.parts],
            "rejected": self.rejected,
            "rejected_count": self.rejected_count,
        }

    @staticmethod
    def from_dict(given: dict[str, Any]) -> "StoredFilters":
        """The filters that a manifest lists."""
        parts = [
            StoredPart(**{**part, "attributes": tuple(map(tuple, part["attributes"]))})
            for part in given["parts"]
        ]
        return StoredFilters(
            schema=schema_of(given["schema"]),
            enforced=given["enforced"],
            columns=json.dumps(given["columns"], separators=(",", ":"), sort_keys=True),
            id_type=given["id_type"],
            parts=tuple(parts),
            rejected=given["rejected"],
            rejected_count=given["rejected_count"],
        )


def schema_dict(schema: Schema) -> dict[str, Any]:
    """The JSON form of a schema, which `schema_of` reads."""
    unsupported = dict(schema.unsupported)
    return {"attributes": schema.to_dict(), "open": schema.open, "unsupported": unsupported}


def schema_of(given: dict[str, Any]) -> Schema:
    """The schema from its JSON form."""
    return read_back(given["attributes"], given["open"], given["unsupported"])


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a store, for new blobs."""

    blobs: Blobs
    name: str = "blobs"

    def put(self, path: Path, suffix: str) -> str:
        """Copies a file into the folder; returns the name of the blob."""
        name = f"{self.name}/{blob_name(path, suffix)}"
        self.blobs.put_file(name, path)
        return name


def store_filters(
    parts: Sequence[FilterReading], empty: StoredFilters, on_bad: OnBad, folder: Folder
) -> StoredFilters:
    """Stores the filters of readings as one part.

    Args:
        parts: the readings.
        empty: the schema and the columns of the filters, without parts.
        on_bad: whether a bad filter raises an error or is skipped.
        folder: the folder for the blobs.

    Raises:
        FilterError: with `on_bad="raise"`, the first three bad filters and their count.
        ConfigError: an id occurs twice.
    """
    if not parts:
        return empty
    part, rejected = assemble(parts, empty.schema, on_bad)
    return replace(
        empty,
        parts=(store_part(part, folder),) if len(part.part) else (),
        rejected=store_rejected(rejected, pa.type_for_alias(empty.id_type), folder),
        rejected_count=len(rejected),
    )


def store_part(given: FilterPart, folder: Folder) -> StoredPart:
    """Builds the index of a part without hidden filters and writes its blobs."""
    counters["parts stored"] += 1
    part = given.part
    with _scratch() as scratch:
        content = part.save(scratch / "index")
        nbytes = (scratch / "index").stat().st_size
        index = folder.put(scratch / "index", "index")
    texts = pa.record_batch([given.texts], ["filter"])
    return StoredPart(
        filters=len(part),
        never=part.never,
        nbytes=nbytes,
        attributes=_attributes(part),
        content=content,
        index=index,
        texts=put_batch(folder, texts, compressed=True),
        kept=put_batch(folder, given.kept) if given.kept.num_columns else None,
    )


def _attributes(part: IndexPart) -> tuple[tuple[str, Any], ...]:
    return tuple((attribute.name, attribute.type) for attribute in part.attributes)


def with_hidden(stored: StoredPart, part: IndexPart, folder: Folder) -> StoredPart:
    """The stored part with the hidden filters of its loaded part."""
    batch = pa.record_batch([array_of(part.hidden)], ["place"])
    return replace(
        stored,
        never=part.never,
        attributes=_attributes(part),
        hidden=put_batch(folder, batch),
        hidden_count=len(part.hidden),
    )


def store_rejected(
    rejected: Sequence[RejectedFilter], id_type: pa.DataType, folder: Folder
) -> str | None:
    """Writes the rejected filters; returns the name of the blob, None without filters."""
    if not rejected:
        return None
    columns = [
        pa.array([bad.id for bad in rejected], id_type),
        *(pa.array([getattr(bad, f.name) for bad in rejected], f.type) for f in _REJECTED),
    ]
    schema = pa.schema([pa.field("id", id_type), *_REJECTED])
    return put_batch(folder, pa.RecordBatch.from_arrays(columns, schema=schema), compressed=True)


def put_batch(folder: Folder, batch: pa.RecordBatch, compressed: bool = False) -> str:
    """Writes a batch as an Arrow file; returns the name of the blob."""
    options = pa.ipc.IpcWriteOptions(compression="zstd" if compressed else None)
    with _scratch() as scratch:
        path = scratch / "batch"
        with pa.ipc.new_file(str(path), batch.schema, options=options) as out:
            out.write_batch(batch)
        return folder.put(path, "arrow")


@contextmanager
def _scratch() -> Iterator[Path]:
    """A temporary directory; raises ConfigError if it cannot be written."""
    try:
        with tempfile.TemporaryDirectory(prefix="wherecast-") as directory:
            yield Path(directory)
    except OSError as error:
        place, why = tempfile.gettempdir(), reason_of(error)
        advice = "TMPDIR can name another directory"
        raise ConfigError(f"cannot write to {place}: {why}; {advice}") from error

"""Snapshots of the subscriptions in force, so that a process need not read all changes.

A snapshot is a few blobs named by their content (the index of each stream, a table of names and
spans) and a manifest named by the version it stands for. Snapshots are derived: any may be missing
or damaged, and is then passed over. Those that two processes make of one version are alike.
"""

import hashlib
import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from wherecast.matching.columnar.index import ColumnarIndex
from wherecast.model import ConfigError, Schema, SnapshotError
from wherecast.pipeline.live.in_force import InForce, StreamFilters
from wherecast.store.blobs.blobs import Blobs
from wherecast.store.position import Position

CHANGES_MIN = 20_000  # since the last snapshot; fewer are read quickly
_SHARE = 4  # a snapshot is due after so many changes as a quarter of what is held
_KEPT = 2
_MANIFESTS = "in-force"


def is_due(known: InForce, saved: int) -> bool:
    """Whether a snapshot is worth while, where the last one stands for a version."""
    return known.version - saved >= max(CHANGES_MIN, len(known) // _SHARE)


def save(known: InForce, blobs: Blobs) -> None:
    """Writes a snapshot, and removes old ones.

    Raises:
        ConfigError: the store cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="wherecast-in-force-") as folder:
        place = Path(folder)
        streams = {}
        for number, (name, stream) in enumerate(sorted(known.streams.items())):
            path = place / f"index-{number}"
            stream.index.save(path)
            streams[name] = {"schema": stream.schema.to_json(), "index": _put(blobs, path)}
        table = place / "state"
        state = known.state()
        with pa.OSFile(str(table), "wb") as sink, pa.ipc.new_file(sink, state.schema) as writer:
            writer.write_table(state)
        manifest = {
            "version": known.version,
            "floor": known.floor.to_dict(),
            "count": len(known.ids),
            "streams": streams,
            "state": _put(blobs, table),
        }
    text = json.dumps(manifest).encode()
    sealed = hashlib.blake2b(text).hexdigest().encode() + b"\n" + text
    blobs.create(f"{_MANIFESTS}/{known.version:016x}", sealed)
    _remove_old(blobs)


def load(blobs: Blobs, start: Position) -> InForce:
    """The newest snapshot that can match publications from a position on; or an empty state."""
    for name in reversed(blobs.names(_MANIFESTS)):
        # One that is damaged, or being removed, is passed over: the changes tell the same.
        with suppress(SnapshotError, ConfigError, ValueError, KeyError, OSError, pa.ArrowException):
            manifest = _manifest(blobs, name)
            if start.reaches(Position.from_dict(manifest["floor"])):
                return _restored(manifest, blobs)
    return InForce()


def newest(blobs: Blobs) -> int:
    """The version that the newest snapshot stands for; 0 where there is none."""
    names = blobs.names(_MANIFESTS)
    return int(names[-1].rpartition("/")[2], 16) if names else 0


def _manifest(blobs: Blobs, name: str) -> dict[str, Any]:
    """A manifest that is as it was written; raises `ValueError` for any other."""
    digest, _, text = blobs.read(name).partition(b"\n")
    if hashlib.blake2b(text).hexdigest().encode() != digest:
        raise ValueError(f"{name} in {blobs.uri} is damaged")
    found: dict[str, Any] = json.loads(text)
    return found


def _restored(manifest: dict[str, Any], blobs: Blobs) -> InForce:
    streams = {}
    for name, stream in manifest["streams"].items():
        index, _, _ = ColumnarIndex.load(_path(blobs, stream["index"]))
        streams[name] = StreamFilters(Schema.from_json(stream["schema"]), index)
    with pa.memory_map(str(_path(blobs, manifest["state"]))) as source:
        state = pa.ipc.open_file(source).read_all()
        floor = Position.from_dict(manifest["floor"])
        return InForce.restored(state, manifest["count"], manifest["version"], floor, streams)


def _path(blobs: Blobs, name: str) -> Path:
    path = blobs.local_path(name)
    if path is None or _digest(path) != name.rpartition("/")[2]:
        raise SnapshotError(f"{name} in {blobs.uri} is missing or damaged")
    return path


def _put(blobs: Blobs, path: Path) -> str:
    """Copies a file in under the digest of its content; its name there."""
    name = f"parts/{_digest(path)}"
    blobs.put_file(name, path)
    return name


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()[:64]


def _remove_old(blobs: Blobs) -> None:
    """Removes all but the newest snapshots, and the blobs that no manifest names."""
    names = blobs.names(_MANIFESTS)
    for name in names[:-_KEPT]:
        blobs.delete(name)
    named: set[str] = set()
    for name in names[-_KEPT:]:
        with suppress(SnapshotError, ValueError, KeyError):
            manifest = _manifest(blobs, name)
            named |= {manifest["state"], *(one["index"] for one in manifest["streams"].values())}
    for name in set(blobs.names("parts")) - named:
        blobs.delete(name)

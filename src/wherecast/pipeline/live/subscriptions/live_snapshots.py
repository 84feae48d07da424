"""Snapshots of live subscriptions, so that a process need not read all changes.

    shares/<version>   a manifest: the blobs that stand for the changes before a version
    blobs/…            the index of each share and stream, and the tables of the roster

The blobs are those of stored filters: named by their content, found by URI, checked and mapped
through the cache of the host. Snapshots are derived: a snapshot that is missing, damaged, or of
another kind of index is passed over, and the changes are read instead.
"""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from wherecast.matching.engine import Savable
from wherecast.matching.kinds import load_engine
from wherecast.model import ConfigError, Schema, SnapshotError
from wherecast.pipeline.filters.blob_location import Place
from wherecast.pipeline.filters.filter_loading import read_batch
from wherecast.pipeline.filters.manifests import packed, unpacked
from wherecast.pipeline.filters.stored_filters import Folder, put_batch
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.pipeline.live.subscriptions.roster import Roster
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory, ShareIndex
from wherecast.store.blobs.blobs import Blobs
from wherecast.store.position import Position

CHANGES_MIN = 20_000  # since the last snapshot; fewer are read quickly
_HELD_PER_CHANGE = 4  # a snapshot is due after so many changes as a quarter of what is held
_MANIFESTS_MAX = 2
_MANIFESTS = "shares"
_BLOBS = "blobs"
_EARLIER_FORMAT = ("in-force", "parts")  # folders that nobody reads any more


def is_due(known: LiveSubscriptions, saved: int) -> bool:
    """Whether a snapshot is worth while, where the last one stands for a version."""
    step = max(CHANGES_MIN, len(known) // _HELD_PER_CHANGE)
    return known.is_savable and known.roster.version - saved >= step


def save(known: LiveSubscriptions, blobs: Blobs) -> None:
    """Writes a snapshot, and removes old ones.

    Raises:
        ConfigError: the store cannot be written.
    """
    roster, folder = known.roster, Folder(blobs, _BLOBS)
    with tempfile.TemporaryDirectory(prefix="wherecast-shares-") as scratch:
        shares = [_put_share(share, folder, Path(scratch)) for share in known.shares]
    manifest = {
        "version": roster.version,
        "floor": roster.floor.to_dict(),
        "kind": known.factory.kind,
        "schemas": {name: schema.to_json() for name, schema in roster.schemas.items()},
        "tables": {name: put_batch(folder, batch) for name, batch in roster.state().items()},
        "shares": shares,
    }
    blobs.create(f"{_MANIFESTS}/{roster.version:016x}", packed(manifest))
    _remove_old(blobs)


def load(
    blobs: Blobs,
    start: Position,
    factory: IndexFactory | None = None,
    shares: int = 1,
    changes: int | None = None,
) -> LiveSubscriptions:
    """The newest snapshot that can match publications from a position on; or an empty state.

    Args:
        blobs: where the snapshots are.
        start: the first publications that will be matched.
        factory: the snapshot must have indexes of its kind; None accepts any kind.
        shares: how many shares the snapshot must have.
        changes: the snapshot may stand for no change from this version on; None: for any change.
    """
    for name in reversed(blobs.names(_MANIFESTS)):
        # One that is damaged, or being removed, is passed over: the changes tell the same.
        with suppress(SnapshotError, ConfigError, ValueError, KeyError, OSError, pa.ArrowException):
            manifest = unpacked(blobs.read(name), f"{name} in {blobs.uri}")
            own = IndexFactory(manifest["kind"]) if factory is None else factory
            fits = own.kind == manifest["kind"] and len(manifest["shares"]) == shares
            fits &= changes is None or manifest["version"] <= changes
            if fits and start.reaches(Position.from_dict(manifest["floor"])):
                return _restored(manifest, Place(blobs.uri), own)
    return LiveSubscriptions(factory or IndexFactory(), shares)


def newest(blobs: Blobs) -> int:
    """The version that the newest snapshot stands for; 0 where there is none."""
    names = blobs.names(_MANIFESTS)
    return int(names[-1].rpartition("/")[2], 16) if names else 0


def _put_share(share: ShareIndex, folder: Folder, scratch: Path) -> dict[str, str]:
    """Writes the indexes of a share; the blob of each stream."""
    names = {}
    for stream, index in sorted(share.indexes.items()):
        if len(index):
            assert isinstance(index, Savable)
            index.save(scratch / "index")
            names[stream] = folder.put(scratch / "index", "index")
    return names


def _restored(manifest: dict[str, Any], place: Place, factory: IndexFactory) -> LiveSubscriptions:
    schemas = {name: Schema.from_json(text) for name, text in manifest["schemas"].items()}
    roster = Roster.restored(
        {name: read_batch(blob, place.open) for name, blob in manifest["tables"].items()},
        manifest["version"],
        Position.from_dict(manifest["floor"]),
        schemas,
    )
    shares = [
        ShareIndex(factory, {name: load_engine(place.open(blob))[1] for name, blob in own.items()})
        for own in manifest["shares"]
    ]
    return LiveSubscriptions.restored(roster, shares, factory)


def _remove_old(blobs: Blobs) -> None:
    """Removes all but the newest snapshots, and the blobs that no manifest names."""
    names = blobs.names(_MANIFESTS)
    used: set[str] = set()
    for name in names[-_MANIFESTS_MAX:]:
        with suppress(SnapshotError, KeyError):
            manifest = unpacked(blobs.read(name), name)
            parts = (manifest["tables"], *manifest["shares"])
            used |= {blob for part in parts for blob in part.values()}
    unused = set(blobs.names(_BLOBS)) - used
    earlier = [name for folder in _EARLIER_FORMAT for name in blobs.names(folder)]
    for name in (*names[:-_MANIFESTS_MAX], *unused, *earlier):
        blobs.delete(name)

"""Opens a store by its URI. No module outside `wherecast.store` names an implementation.

    memory:     a store that ends with this process
    file:DIR    the directory DIR; a plain path means the same

An implementation and its libraries are imported only when one of its stores is opened.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wherecast.model.errors import ConfigError
from wherecast.model.values import describe
from wherecast.store.blobs.blobs import scheme_of
from wherecast.store.blobs.posix_blobs import path_of
from wherecast.store.clock import boot_us
from wherecast.store.contracts import Role, Store
from wherecast.store.segments.segment_settings import DEFAULT_SEGMENTS, SegmentSettings

MEMORY = "memory:"


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Options of a store that its URI does not carry.

    Attributes:
        segments: limits of the segments of a directory.
        partitions: number of partitions of a log in memory.
        identity: of a log in memory; empty draws a random one.
        accepts_loss: whether the owner of a directory goes on without commits that its log has
            lost; the loss is recorded and stays visible.
        monotonic: a clock that nobody sets, in microseconds; bounds the steps of log time.
    """

    segments: SegmentSettings = DEFAULT_SEGMENTS
    partitions: int = 1
    identity: str = ""
    accepts_loss: bool = False
    monotonic: Callable[[], int] = boot_us


DEFAULT_OPTIONS = StoreOptions()


def open_store(
    uri: str | Path, role: Role = "owner", options: StoreOptions = DEFAULT_OPTIONS
) -> Store:
    """Opens the store at a URI in a role; whoever opens a store closes it.

    Raises:
        ConfigError: the URI names no store, or its directory cannot be made, read or written.
        StoreError: the store is in use, damaged, or written by a newer version.
    """
    directory = directory_of(uri)
    if directory is None:
        from wherecast.store.memory.store import MemoryStore

        return MemoryStore(options.partitions, options.identity, monotonic=options.monotonic)
    from wherecast.store.embedded.store import EmbeddedStore

    return EmbeddedStore(directory, role, options.segments, options.accepts_loss, options.monotonic)


def directory_of(uri: str | Path) -> Path | None:
    """The directory of a store; None for a store in memory.

    Raises:
        ConfigError: the URI names no store.
    """
    if not isinstance(uri, str | Path):
        raise ConfigError(f"data is a directory, not {describe(uri)}")
    if "\0" in str(uri):
        raise ConfigError(f"data is a directory, not {describe(uri)}: it has a NUL")
    if isinstance(uri, Path):
        return uri
    if uri == MEMORY:
        return None
    if uri.startswith("file:"):
        return path_of(uri)
    if scheme := scheme_of(uri):
        raise ConfigError(f"cannot open {uri}: a store is memory: or a directory, not {scheme}:")
    return Path(uri)

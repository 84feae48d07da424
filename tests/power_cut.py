"""A disk that loses power: what SQLite writes is recorded, and any cut can be looked at afterwards.

A write that was not synced may be there after a cut, or not, or in part, whatever became of those
before it: so unsynced writes are dropped, kept and torn at random, each for itself. The name of a
file lasts once its directory is synced, which SQLite does when it first syncs a new journal.

    with recorded_disk() as disk:
        … open databases with vfs=disk.vfs, and after each commit: disk.acknowledge(what)
    for image in disk.images(seed=1):
        image.write(directory); … open it as usual, and look for image.acknowledged
"""

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import apsw

_SECTOR = 512
_NUMBERS = itertools.count()


@dataclass(frozen=True)
class _Step:
    """One thing that was done to a file, or told to someone outside."""

    kind: Literal["make", "write", "truncate", "sync", "rename", "delete", "names", "acknowledge"]
    file: str = ""
    offset: int = 0
    data: bytes = b""
    what: Any = None


@dataclass
class Image:
    """What a disk holds after a cut.

    Attributes:
        point: the step before which the power was cut.
        files: their contents, by name.
        acknowledged: what was told to be durable before the cut.
    """

    point: int
    files: dict[str, bytes]
    acknowledged: list[Any]

    def write(self, directory: Path) -> None:
        """Puts the files into a directory."""
        for name, content in self.files.items():
            (directory / name).write_bytes(content)


@dataclass
class Disk:
    """The steps of everything that was done through one VFS.

    Attributes:
        vfs: its name.
        syncs: how many there were, by the name of the file.
    """

    vfs: str
    syncs: dict[str, int] = field(default_factory=dict)
    _steps: list[_Step] = field(default_factory=list)

    def acknowledge(self, what: Any) -> None:
        """Remembers that something is said to be durable from now on."""
        self._steps.append(_Step("acknowledge", what=what))

    def sync_names(self) -> None:
        """Remembers that the directory was synced, by whoever opened the files."""
        self._steps.append(_Step("names"))

    def write_file(self, name: str, data: bytes) -> None:
        """Remembers that a file was made and written, and not synced."""
        self.record(_Step("make", name))
        self.record(_Step("write", name, 0, data))

    def write_at(self, name: str, offset: int, data: bytes) -> None:
        """Remembers that a part of a file was written, and not synced."""
        self.record(_Step("make", name))
        self.record(_Step("write", name, offset, data))

    def sync_file(self, name: str) -> None:
        """Remembers that a file was synced."""
        self.record(_Step("sync", name))

    def rename(self, name: str, new: str) -> None:
        """Remembers that a file got another name; it lasts once names are synced."""
        self.record(_Step("rename", name, what=new))

    def delete(self, name: str) -> None:
        """Remembers that a file was deleted; it may be there again until names are synced."""
        self.record(_Step("delete", name, what=False))

    def record(self, step: _Step) -> None:
        """Adds a step; threads may do so at once."""
        self._steps.append(step)
        if step.kind == "sync":
            self.syncs[step.file] = self.syncs.get(step.file, 0) + 1

    def __len__(self) -> int:
        return len(self._steps)

    def images(self, seed: int, each: int = 2) -> Iterator[Image]:
        """Cuts before every step, each some times with other losses; equal ones are shown once."""
        rng = random.Random(seed)
        platters = _Platters()
        seen = set()
        for point, step in enumerate([*self._steps, _Step("names")]):
            for number in range(each):
                files = platters.after_cut(rng, (0.0, 1.0, 0.5, 0.9)[(point + number) % 4])
                fingerprint = (
                    len(platters.acknowledged),
                    *sorted((n, hash(c)) for n, c in files.items()),
                )
                if fingerprint not in seen:
                    seen.add(fingerprint)
                    yield Image(point, files, list(platters.acknowledged))
            platters.take(step)


@dataclass
class _File:
    """A file: what is durable of it, and what was done since."""

    content: bytearray = field(default_factory=bytearray)
    pending: list[_Step] = field(default_factory=list)


class _Platters:
    """What is durable, and what may be lost."""

    def __init__(self) -> None:
        self.acknowledged: list[Any] = []
        self._named: dict[str, _File] = {}  # after a cut for sure
        self._names: dict[str, _File] = {}  # as the running system sees them

    def take(self, step: _Step) -> None:
        """Does a step."""
        if step.kind == "acknowledge":
            self.acknowledged.append(step.what)
        elif step.kind == "make":
            self._names.setdefault(step.file, _File())
        elif step.kind == "rename":
            self._names[step.what] = self._names.pop(step.file)
        elif step.kind == "delete":
            self._names.pop(step.file, None)
            if step.what:
                self._named = dict(self._names)
        elif step.kind == "names":
            self._named = dict(self._names)
        elif step.kind == "sync":
            file = self._names[step.file]
            for one in file.pending:
                _apply(file.content, one)
            file.pending = []
            is_journal = step.file.endswith(("-wal", "-journal"))
            if is_journal and step.file not in self._named:
                self._named = dict(self._names)
        else:
            self._names[step.file].pending.append(step)

    def after_cut(self, rng: random.Random, chance: float) -> dict[str, bytes]:
        """The files after a cut; each unsynced step is kept with a chance."""
        files = {}
        for name in {**self._named, **self._names}:
            durable, running = self._named.get(name), self._names.get(name)
            file = durable if durable is running or rng.random() >= chance else running
            if file is not None:
                files[name] = _survivor(file, rng, chance)
        return files


def _survivor(file: _File, rng: random.Random, chance: float) -> bytes:
    content = bytearray(file.content)
    for step in file.pending:
        if rng.random() < chance:
            _apply(content, step if rng.random() < 0.8 or chance == 1 else _torn(step, rng))
    return bytes(content)


def _torn(step: _Step, rng: random.Random) -> _Step:
    """A write of which one piece is missing at its beginning or its end."""
    if step.kind != "write" or len(step.data) < 2:
        return step
    size = _SECTOR if len(step.data) > _SECTOR else 1
    cut = rng.randrange(0, len(step.data), size)
    if rng.random() < 0.5:
        return _Step("write", step.file, step.offset, step.data[:cut])
    return _Step("write", step.file, step.offset + cut, step.data[cut:])


def _apply(content: bytearray, step: _Step) -> None:
    if step.kind == "truncate":
        del content[step.offset :]
        content.extend(bytes(step.offset - len(content)))
    elif step.data:
        content.extend(bytes(max(0, step.offset - len(content))))
        content[step.offset : step.offset + len(step.data)] = step.data


@contextmanager
def scratch() -> Iterator[Path]:
    """A directory in memory, where there is such a file system: images are many."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as directory:
        yield Path(directory)


@contextmanager
def recorded_disk() -> Iterator[Disk]:
    """A disk that does what the usual one does, and records it."""
    disk = Disk(f"recorded-{next(_NUMBERS)}")
    vfs = _RecordingVFS(disk)
    try:
        yield disk
    finally:
        vfs.unregister()


class _RecordingVFS(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        super().__init__(disk.vfs, "")

    def xOpen(self, name: Any, flags: list[int]) -> "_RecordingFile":  # noqa: N802
        return _RecordingFile(self._disk, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        super().xDelete(name, sync)
        self._disk.record(_Step("delete", Path(name).name, what=sync))


class _RecordingFile(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._disk = disk
        self._name = Path(path).name if path else ""
        super().__init__("", name, flags)
        if self._name and flags[0] & apsw.SQLITE_OPEN_CREATE:
            disk.record(_Step("make", self._name))

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        if self._name:
            self._disk.record(_Step("write", self._name, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        super().xTruncate(size)
        if self._name:
            self._disk.record(_Step("truncate", self._name, size))

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        if self._name:
            self._disk.record(_Step("sync", self._name))

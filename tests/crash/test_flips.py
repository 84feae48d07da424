"""One byte of a log is flipped, or one of its files is cut short: never is less there in silence.

The log has publications, changes and cursors, some of them in the write-ahead log, as after a kill.
Each trial opens the damaged files as an owner and reads everything. Either all that was
acknowledged is there, or the opening is refused, or the check names what is wrong.
"""

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.contract.stores import SCHEMA, Body, changes, embedded_place, publications
from tests.power_cut import scratch
from tests.seeds import random_of
from tests.unit.store.embedded.filled import EACH, add_batch
from wherecast.model import StoreError
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.cursors import EmbeddedCursors
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log import log as embedded_log
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry, Cursor, Entry, Progress

FILES = ("log.db", "log.db-wal", "log.mark")
SAMPLE = 150  # trials of each kind and file in every run


@dataclass(frozen=True)
class Victim:
    """The files of a log after a kill, and what was acknowledged."""

    files: dict[str, bytes]
    content: list[Any]


def filled(folder: Path) -> Victim:
    """A log of about 64 KiB; its last commits are in the write-ahead log alone."""
    with closing(EmbeddedStore(folder / "store")) as store:
        store.log.change(changes(("stream", "air", "", "", SCHEMA.to_json())), at=1)
        add_batch(store, store.batches.begin())
    place = embedded_place(folder / "store")
    log = place.log
    assert isinstance(log, EmbeddedLog)
    cursors = EmbeddedCursors(log)
    for number in range(13):
        bodies = [
            Body(number * 10 + row, f"{number}-{row}", bytes([number]) * (number % 5 * 90))
            for row in range(number % 3 + 1)
        ]
        log.append(publications(bodies, stream="air"), at=number + 2)
        name = f"subscriber {number % 5}"
        if number % 2:
            log.change(changes(("subscribe", "air", name, f"s{number}", "no2 > 9")), at=number)
        cursors.write({name: Cursor(number, frozenset({number + 3}))})
        if number == 6:
            log.trim(Position({0: EACH}))
    names = (*FILES, "format", "batches.db")
    files = {name: (folder / "store" / name).read_bytes() for name in names}
    content = read(log)
    place.close()
    return Victim(files, content)


def read(log: EmbeddedLog) -> list[Any]:
    """Everything that a log tells; damaged records are left out."""
    registry = log.registry
    entries = log.read(0, 0, 2**62, headers=True, payloads=True)
    names = registry.subscribers()
    return [
        *(log.starts(), log.ends(), log.changes_end(), log.link_marks()),
        *(_record(entry) for entry in entries if entry.damage is None),
        *(_change(entry) for entry in log.changes(0, 2**62) if entry.damage is None),
        *(registry.counts(), names, [registry.subscriptions(name) for name in names]),
        {name: schema.to_json() for name, schema in registry.streams().items()},
        *EmbeddedCursors(log).all(),
    ]


def _record(entry: Entry) -> tuple[Any, ...]:
    assert entry.headers is not None
    assert entry.payloads is not None
    rows = entry.headers.to_pylist(), entry.payloads.to_pylist()
    head = entry.first, entry.count, entry.stream, entry.accepted_at, entry.kind, entry.source
    return (*head, bytes(entry.attributes), *rows)


def _change(entry: ChangeEntry) -> tuple[Any, ...]:
    return entry.version, entry.count, entry.acts_from, entry.at, entry.changes.to_pylist()


def put(folder: Path, files: dict[str, bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def verdict(folder: Path, victim: Victim, files: dict[str, bytes]) -> str:
    """Whether damage was refused, named, or harmless; anything else fails."""
    put(folder, files)
    try:
        with closing(Directory(folder)) as directory, closing(EmbeddedLog(directory)) as log:
            log.settle(Progress())
            content = read(log)
    except StoreError:
        return "refused"
    if content == victim.content:
        return "harmless"
    put(folder, files)
    problems = [one.problem for one in check_store(folder) if one.problem]
    assert problems, [one for one in victim.content if one not in content]
    return "named"


def flips(victim: Victim, name: str, rng: Random) -> Iterator[tuple[int, dict[str, bytes]]]:
    data = victim.files[name]
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= rng.randrange(1, 256)
        yield place, victim.files | {name: bytes(flipped)}


def cuts(victim: Victim, name: str, rng: Random) -> Iterator[tuple[int, dict[str, bytes]]]:
    data = victim.files[name]
    for size in range(len(data)):
        yield size, victim.files | {name: data[:size]}


KINDS = {"flips": flips, "cuts": cuts}


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = replace(embedded_log.LAYOUT, checkpoint_pages=12, grown_pages=16)
    monkeypatch.setattr(embedded_log, "LAYOUT", layout)


def tried(kind: str, name: str, share: float) -> Counter[str]:
    """The verdicts of some trials, or of all."""
    rng = random_of(f"{kind} {name}")
    found: Counter[str] = Counter()
    with scratch() as folder:
        victim = filled(folder)
        chosen = {at for at in range(len(victim.files[name])) if rng.random() < share}
        for at, files in KINDS[kind](victim, name, rng):
            if at in chosen:
                try:
                    found[verdict(folder / "copy", victim, files)] += 1
                except Exception as error:
                    error.add_note(f"{kind} of {name} at {at}")
                    raise
    return found


def test_the_log_is_of_the_size_that_is_meant() -> None:
    with scratch() as folder:
        victim = filled(folder)
        assert len(victim.files["log.db"]) >= 60_000
        assert len(victim.files["log.db-wal"]) >= 60_000
        assert verdict(folder / "copy", victim, victim.files) == "harmless"
        emptied = victim.files | {"log.db-wal": b""}
        assert verdict(folder / "copy", victim, emptied) == "refused"
        put(folder / "copy", victim.files)
        found = list(check_store(folder / "copy"))
        assert [one.problem or one.note for one in found if one.problem or one.note] == []


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", KINDS)
def test_some_bytes(kind: str, name: str) -> None:
    size = 4096 if name == "log.mark" else 100_000
    assert tried(kind, name, SAMPLE / size).total() > 0


@pytest.mark.soak("flips")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_byte(kind: str, name: str) -> None:
    found = tried(kind, name, 1.0)
    print(f"{kind} of {name}: {dict(found)}")
    assert found["refused"] or name == "log.mark"

"""Random changes, files and compactions, over all types, against the reference index."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from tests.property.strategies import (
    RANDOMS,
    fill,
    make_conjunction,
    make_row,
    make_schema,
    make_template,
)
from tests.property.test_indexes import inside, table_of
from tests.ways import WAYS, take
from wherecast import FilterError, Index, Schema
from wherecast.matching.columnar.index import ColumnarIndex
from wherecast.matching.matches import Id

BAD = "no such attribute = 1"
MANY = 50  # ids


@contextmanager
def taken(way: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        take(way, patch)
        yield


class Changes(RuleBasedStateMachine):
    """A columnar index, and the filters that it should hold."""

    @initialize(rng=RANDOMS)
    def start(self, rng: Random) -> None:
        self.rng = rng
        self.schema = replace(make_schema(rng, domains=rng.random() < 0.5), open=rng.random() < 0.2)
        makes = [make_conjunction, make_template]
        self.templates = [rng.choice(makes)(rng, self.schema) for _ in range(12)]
        self.name: Any = rng.choice([int, "s{}".format])
        self.columnar = Index(self.schema)
        self.filters: dict[Id, str] = {}
        self.saved: list[tuple[Path, dict[Id, str], str]] = []
        self.folder = Path(tempfile.mkdtemp(prefix="wherecast-"))

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    def text(self) -> str:
        return fill(self.rng, self.rng.choice(self.templates))

    def some(self, most: int) -> list[Id]:
        """Ids that are there."""
        return self.rng.sample(sorted(self.filters), min(len(self.filters), most))

    @rule()
    def add(self) -> None:
        id = self.name(self.rng.randrange(MANY))
        self.filters[id] = self.text()
        self.columnar.add(id, self.filters[id])

    @rule(count=st.integers(0, 30))
    def add_all(self, count: int) -> None:
        given = {self.name(self.rng.randrange(MANY)): self.text() for _ in range(count)}
        self.columnar.add_all(given)
        self.filters |= given

    @rule()
    def add_bad(self) -> None:
        given = {self.name(self.rng.randrange(MANY)): self.text() for _ in range(5)}
        bad = self.name(MANY)
        with pytest.raises(FilterError):
            self.columnar.add_all({**given, bad: BAD})
        with pytest.raises(FilterError):
            self.columnar.add(bad, BAD)

    @precondition(lambda self: self.filters)
    @rule(count=st.integers(1, 10))
    def replace(self, count: int) -> None:
        given = {id: self.text() for id in self.some(count)}
        self.columnar.add_all(given)
        self.filters |= given

    @precondition(lambda self: self.filters)
    @rule()
    def remove(self) -> None:
        [id] = self.some(1)
        self.columnar.remove(id)
        del self.filters[id]
        with pytest.raises(KeyError):
            self.columnar.remove(id)

    @precondition(lambda self: self.filters)
    @rule(count=st.sampled_from([1, 3, 10, MANY]))
    def remove_all(self, count: int) -> None:
        gone = self.some(count)
        with pytest.raises(KeyError):
            self.columnar.remove_all([*gone, self.name(MANY)])
        self.columnar.remove_all(gone)
        for id in gone:
            del self.filters[id]

    @rule(count=st.integers(0, 12))
    def match(self, count: int) -> None:
        rows = [inside(make_row(self.rng, self.schema), self.schema) for _ in range(count)]
        table = table_of(self.schema, rows)
        reference = index_of(self.schema, self.filters, "scan")
        wanted = reference.match(table).to_pylist()
        for way in WAYS:
            with taken(way):
                found = self.columnar.match(table).to_pylist()
            for row, got, expected in zip(rows, found, wanted, strict=True):
                wrong = [self.filters.get(id) for id in set(got) ^ set(expected)]
                assert not wrong, (way, wrong, row)
                assert got == expected

    @rule()
    def save(self) -> None:
        path = self.folder / str(len(self.saved))
        self.saved.append((path, dict(self.filters), self.columnar.save(path)))

    @precondition(lambda self: self.saved)
    @rule()
    def load(self) -> None:
        path, filters, _ = self.rng.choice(self.saved)
        self.columnar, self.filters = Index.load(path), dict(filters)

    @precondition(lambda self: self.saved)
    @rule()
    def compare_contents(self) -> None:
        """A file depends on the filters, not on how they came."""
        path, filters, content = self.rng.choice(self.saved)
        fresh = index_of(self.schema, filters, "columnar")
        assert fresh.save(path.with_suffix(".fresh")) == content
        assert Index.load(path).schema == self.schema

    @rule()
    def compact(self) -> None:
        engine = self.columnar._engine
        assert isinstance(engine, ColumnarIndex)
        engine.compact()

    @invariant()
    def same_ids(self) -> None:
        if hasattr(self, "filters"):
            assert len(self.columnar) == len(self.filters)
            there = {id for id in map(self.name, range(MANY + 1)) if id in self.columnar}
            assert there == self.filters.keys()


def index_of(schema: Schema, filters: dict[Id, str], kind: str) -> Index:
    index = Index(schema, kind=kind)
    index.add_all(filters)
    return index


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)

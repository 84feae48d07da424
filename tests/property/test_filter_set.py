"""Random changes of a `FilterSet` beside a dict: what is in it, what it matches, what it counts."""

import shutil
import tempfile
from itertools import pairwise
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.property.strategies import (
    RANDOMS,
    fill,
    make_conjunction,
    make_row,
    make_schema,
    make_template,
)
from tests.property.test_indexes import inside, table_of
from wherecast import FilterError, Index
from wherecast.matching.matches import Id
from wherecast.pipeline.filters.blob_location import Place
from wherecast.pipeline.filters.filter_loading import filter_table, load
from wherecast.pipeline.filters.filter_set import Change, FilterSet
from wherecast.pipeline.stages.batch_stages import match, validate

BAD = "no such attribute = 1"
MANY = 40  # ids
Kept = tuple[str, str | None]  # a filter and its word


class Changes(RuleBasedStateMachine):
    """A set, and what it should hold in each of its versions."""

    @initialize(rng=RANDOMS)
    def start(self, rng: Random) -> None:
        self.rng = rng
        self.schema = make_schema(rng, domains=rng.random() < 0.5)
        makes = [make_conjunction, make_template]
        self.templates = [rng.choice(makes)(rng, self.schema) for _ in range(12)]
        self.name: Any = rng.choice([int, "s{}".format])
        self.folder = tempfile.mkdtemp(prefix="wherecast-")
        self.set = FilterSet(self.folder, self.schema, keep=["word"])
        self.model: dict[Id, Kept] = {}
        self.versions: dict[int, dict[Id, Kept]] = {}
        self.tier_filters = rng.choice([2, 8, 4096])
        self.set._tier_filters = self.tier_filters

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    def some(self, count: int) -> dict[Id, Kept]:
        """Filters under any ids."""
        ids = self.rng.sample(range(MANY), count)
        words = ["", "one", "ž", None]
        texts = [fill(self.rng, self.rng.choice(self.templates)) for _ in ids]
        return {self.name(n): (t, self.rng.choice(words)) for n, t in zip(ids, texts, strict=True)}

    def table(self, filters: dict[Id, Kept]) -> pa.Table:
        type_ = pa.int32() if self.name is int else pa.string()
        rows = list(filters.values())
        return pa.table(
            {
                "word": pa.array([word for _, word in rows], pa.string()),
                "filter": pa.array([text for text, _ in rows], pa.string()),
                "id": pa.array(list(filters), type_),
            }
        )

    def done(self, change: Change, model: dict[Id, Kept], before: int) -> None:
        """Checks the counts of a change, and what the set holds then."""
        known = self.model.keys()
        assert change.removed == len(known - model.keys())
        assert change.added == len(model.keys() - known)
        assert change.version in (before, before + 1)
        self.model = model
        if change.version > 1:
            self.versions[change.version] = model
        assert (self.set.version, len(self.set)) == (change.version, len(model))

    @rule(count=st.integers(0, 12))
    def add(self, count: int) -> None:
        given, before = self.some(count), self.set.version
        change = self.set.add(self.table(given))
        assert change.replaced == len(given.keys() & self.model.keys())
        self.done(change, self.model | given, before)

    @rule(count=st.integers(0, 6))
    def add_with_bad_ones(self, count: int) -> None:
        given, before = self.some(count), self.set.version
        bad = {self.name(MANY): (BAD, None), self.name(MANY + 1): ("", "two")}
        table = self.table(given | bad)
        with pytest.raises(FilterError):
            self.set.add(table)
        assert self.set.version == before
        change = self.set.add(table, on_bad_filter="skip")
        assert {one.id for one in change.rejected} == bad.keys()
        self.done(change, self.model | given, before)

    @rule(count=st.integers(0, 12))
    def replace(self, count: int) -> None:
        given, before = self.some(count), self.set.version
        change = self.set.replace(self.table(given))
        assert change.replaced == len(given.keys() & self.model.keys())
        self.done(change, given, before)

    @precondition(lambda self: self.versions)
    @rule(count=st.sampled_from([0, 1, 3, 10, MANY]))
    def remove(self, count: int) -> None:
        gone, before = list(self.some(count)), self.set.version
        if missing := set(gone) - self.model.keys():
            with pytest.raises(KeyError, match=f"{len(missing)} id"):
                self.set.remove(gone)
            assert self.set.version == before
        change = self.set.remove(gone, missing="skip")
        self.done(change, {i: f for i, f in self.model.items() if i not in gone}, before)

    @rule()
    def compact(self) -> None:
        before = self.set.version
        self.done(self.set.compact(), self.model, before)
        if self.model:
            assert self.set.filters().stats["parts"] == 1

    @rule()
    def reopen(self) -> None:
        self.set = FilterSet(self.folder, self.schema)
        self.set._tier_filters = self.tier_filters

    @precondition(lambda self: self.versions)
    @rule(count=st.integers(1, 8))
    def match(self, count: int) -> None:
        """Any version matches what a scan of its filters does, and has its words."""
        version = self.rng.choice(list(self.versions))
        model = self.versions[version]
        stored = self.set.filters(version).stored
        open_blob = Place(self.set.uri).open
        tables = [filter_table(part, open_blob) for part in stored.parts]
        rows = [row for table in tables for row in table.to_pylist()]
        assert {row["id"]: (row["filter"], row["word"]) for row in rows} == model

        publications = [inside(make_row(self.rng, self.schema), self.schema) for _ in range(count)]
        table = table_of(self.schema, publications)
        reference = Index(self.schema, kind="scan")
        reference.add_all({id: text for id, (text, _) in model.items()})
        found, filters = [], load(stored, open_blob)
        assert filters.ids.type == (pa.int32() if self.name is int else pa.string())
        for batch in table.to_batches():
            places = match(validate(batch, filters.schema), filters.parts)
            ids = filters.ids.take(pa.array(places.indices)).to_pylist()
            words = filters.kept["word"].take(pa.array(places.indices)).to_pylist()
            assert words == [model[id][1] for id in ids]
            ends = places.offsets.tolist()
            found += [sorted(ids[a:b]) for a, b in pairwise(ends)]
        assert found == reference.match(table).to_pylist()


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=8, stateful_step_count=15)

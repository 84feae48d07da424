"""Tables with additions say what plain dictionaries say, before and after they are merged."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wherecast.pipeline.live.subscriptions import held_versions, names
from wherecast.pipeline.live.subscriptions.held_versions import HeldVersions
from wherecast.pipeline.live.subscriptions.name_table import NameTable
from wherecast.pipeline.live.subscriptions.names import Names

subscribers = st.sampled_from(["", "ana", "Ana", "an", "ana\x00", "ž", "\ue000", "𝄞", "b"])
ids = st.sampled_from(["", "s", "s1", "s10", "ž", "𝄞"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("enter"), subscribers, ids),
        st.tuples(st.just("end"), subscribers, ids),
        st.tuples(st.just("end all"), subscribers, st.just("")),
        st.tuples(st.just("drop"), st.just(""), st.just("")),
        st.tuples(st.just("merge"), st.just(""), st.just("")),
        st.tuples(st.just("restore"), st.just(""), st.just("")),
    ),
    max_size=40,
)


def check(held: HeldVersions, named: Mapping[int, tuple[str, str]]) -> None:
    """Compares everything that a roster and the grouping ask for."""
    versions = np.array(sorted(named), np.int64)
    assert (len(held), held.versions().tolist()) == (len(named), versions.tolist())
    numbers = held.names_of(versions)
    assert [held.names.name(number) for number in numbers.tolist()] == list(
        map(named.__getitem__, versions.tolist())
    )
    assert [held.name(version) for version in versions.tolist()] == list(
        map(named.__getitem__, versions.tolist())
    )
    told = [named[version] for version in versions.tolist()]
    assert held.names.subscribers_of(numbers).to_pylist() == [name for name, _ in told]
    assert held.names.ids_of(numbers).to_pylist() == [id for _, id in told]
    ranks, owners = held.names.ranks(numbers).tolist(), held.names.owners(numbers).tolist()
    for one, rank, owner in zip(told, ranks, owners, strict=True):
        for other, its_rank, its_owner in zip(told, ranks, owners, strict=True):
            assert (one < other, one == other) == (rank < its_rank, rank == its_rank)
            assert (one[0] == other[0]) == (owner == its_owner)


@given(steps)
def test_it_says_what_dictionaries_say(given_steps: list[tuple[str, str, str]]) -> None:
    held, named = HeldVersions(), {}
    standing: dict[tuple[str, str], int] = {}
    ended: set[int] = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_versions, "_ADDITIONS_MIN", 9)
        patch.setattr(names, "_ONE_BY_ONE_MAX", 2)
        for version, (kind, subscriber, id) in enumerate(given_steps):
            if kind in ("enter", "end"):
                expected = [standing.pop((subscriber, id))] if (subscriber, id) in standing else []
                assert [one for one, _ in held.end(subscriber, id)] == expected
                ended.update(expected)
            if kind == "enter":
                held.enter(version, subscriber, id, "air")
                standing[subscriber, id], named[version] = version, (subscriber, id)
                held.settle()
            elif kind == "end all":
                own = [key for key in standing if key[0] == subscriber]
                expected = sorted(standing.pop(key) for key in own)
                assert sorted(one for one, _ in held.end_all(subscriber)) == expected
                ended.update(expected)
            elif kind == "drop":
                held.drop(ended)
                for one in ended:
                    del named[one]
                ended = set()
            elif kind == "merge":
                held.merge()
            elif kind == "restore":
                held = HeldVersions.restored(held.state())
            check(held, named)


def test_what_the_table_does_not_have_belongs_between_its_neighbours() -> None:
    table = NameTable.of(
        pa.array(["a", "a", "c"], pa.large_string()), pa.array(["1", "3", "2"], pa.large_string())
    )
    known = Names(table)
    entered = [known.enter(*name) for name in (("b", "9"), ("a", "2"), ("d", ""), ("a", "0"))]
    assert entered == [3, 4, 5, 6]
    in_order = sorted(range(7), key=lambda n: int(known.ranks(np.array([n]))[0]))
    assert [known.name(number) for number in in_order] == sorted(known.name(n) for n in range(7))
    assert known.find("a", "1") == 0
    assert known.find("b", "1") is None
    assert sorted(known.of("a")) == [0, 1, 4, 6]
    assert known.enter("a", "2") == 4

"""Arrays that are indexed by element: exact in every way of matching, and as cheap as equality.

The oracle is SQL's meaning on plain Python values: it computes each filter's verdict on its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from tests.seeds import random_of
from wherecast import Index, Schema

Row = dict[str, Any]
Verdict = bool | None

SCHEMA = Schema.from_dict(
    {"tags": "array<string>", "codes": "array<int>", "levels": "array<float>", "n": "int"}
)
ARRAYS: dict[str, Sequence[Any]] = {
    "tags": [f"t{number}" for number in range(12)],
    "codes": [0, 1, -1, 5, 2**53 + 1, 2**63 - 1],
    "levels": [0.0, 1.5, -2.0, 1e300],
}
ALSO_SENT: dict[str, Sequence[Any]] = {
    "tags": ["", "other", None],
    "codes": [7, None],
    "levels": [float("inf"), None],
}


@dataclass(frozen=True)
class Wanted:
    """A filter: its text, and the verdict on a row that it must give."""

    text: str
    verdict: Callable[[Row], Verdict]


def holds_one_of(name: str, values: set[Any]) -> Callable[[Row], Verdict]:
    """Whether an array has one of some values; unknown where only a null element could be one."""

    def verdict(row: Row) -> Verdict:
        array = row.get(name)
        if array is None:
            return None
        if any(element in values for element in array if element is not None):
            return True
        return None if None in array else False

    return verdict


def literal(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else f"{value}"


def leaf(rng: Random) -> Wanted:
    if rng.random() < 0.2:
        bound = rng.randrange(6)
        return Wanted(f"n > {bound}", lambda row: row["n"] > bound if "n" in row else None)
    name = rng.choice(list(ARRAYS))
    values = rng.choices(ARRAYS[name], k=rng.choice([1, 1, 1, 2, 3, 9, 11]))
    verdict = holds_one_of(name, set(values))
    if len(values) == 1:
        return Wanted(f"array_contains({name}, {literal(values[0])})", verdict)
    listed = ", ".join(map(literal, values))
    return Wanted(f"arrays_overlap({name}, array({listed}))", verdict)


def tree(rng: Random, depth: int) -> Wanted:
    if not depth or rng.random() < 0.3:
        return leaf(rng)
    parts = [tree(rng, depth - 1) for _ in range(rng.choice([2, 2, 3]))]
    decisive = rng.random() < 0.5  # the verdict of one part that decides an OR, or an AND

    def verdict(row: Row) -> Verdict:
        found = [part.verdict(row) for part in parts]
        if decisive in found:
            return decisive
        return None if None in found else not decisive

    text = "(" + (" OR " if decisive else " AND ").join(part.text for part in parts) + ")"
    return negated(Wanted(text, verdict)) if rng.random() < 0.2 else Wanted(text, verdict)


def negated(one: Wanted) -> Wanted:
    def verdict(row: Row) -> Verdict:
        found = one.verdict(row)
        return None if found is None else not found

    return Wanted(f"NOT {one.text}", verdict)


def random_row(rng: Random) -> Row:
    row: Row = {}
    for name, values in ARRAYS.items():
        if rng.random() < 0.8:
            drawn = [*values, *values, *ALSO_SENT[name]]
            row[name] = [rng.choice(drawn) for _ in range(rng.choice([0, 1, 2, 5, 30]))]
    if rng.random() < 0.8:
        row["n"] = rng.randrange(6)
    return row


def expected(filters: dict[int, Wanted], rows: list[Row]) -> list[list[int]]:
    return [[id_ for id_, one in filters.items() if one.verdict(row) is True] for row in rows]


def found(index: Index, rows: list[Row]) -> list[list[int]]:
    return [sorted(map(int, ids)) for ids in index.match(rows).to_pylist()]


def added(kind: str, filters: dict[int, Wanted]) -> Index:
    index = Index(SCHEMA, kind=kind)
    index.add_all((id_, one.text) for id_, one in filters.items())
    return index


def drawn(rng: Random, count: int) -> dict[int, Wanted]:
    return {number: tree(rng, rng.choice([0, 0, 1, 2, 3])) for number in range(count)}


@pytest.mark.parametrize("count", [20, 600])
def test_matches_are_what_sql_means(way: str, count: int) -> None:
    rng = random_of(f"elements {count}")
    filters, rows = drawn(rng, count), [random_row(rng) for _ in range(150)]
    wanted = expected(filters, rows)
    assert sum(map(len, wanted)) > count
    index = added("columnar", filters)
    assert found(index, rows) == wanted
    assert [found(index, [row])[0] for row in rows[:20]] == wanted[:20]


@pytest.mark.parametrize("kind", ["scan", "betree", "forest"])
def test_other_kinds_find_the_same(kind: str) -> None:
    rng = random_of("elements of other kinds")
    filters, rows = drawn(rng, 60), [random_row(rng) for _ in range(60)]
    assert found(added(kind, filters), rows) == expected(filters, rows)


def test_an_index_that_changed_and_was_saved(way: str, tmp_path: Path) -> None:
    rng = random_of("elements that change")
    filters, rows = drawn(rng, 300), [random_row(rng) for _ in range(80)]
    index = added("columnar", filters)
    found(index, rows)
    later = {1_000 + number: one for number, one in drawn(rng, 200).items()}
    for id_, one in later.items():
        index.add(id_, one.text)
    gone = [id_ for id_ in filters if id_ % 3 == 0]
    index.remove_all(gone)
    filters = {id_: one for id_, one in (filters | later).items() if id_ not in gone}
    wanted = expected(filters, rows)
    assert found(index, rows) == wanted
    index.save(tmp_path / "index")
    assert found(Index.load(tmp_path / "index"), rows) == wanted


def test_a_column_of_filters_is_read_as_each_alone() -> None:
    rng = random_of("a column of elements")
    filters, rows = drawn(rng, 400), [random_row(rng) for _ in range(60)]
    index = Index(SCHEMA, kind="columnar")
    texts = [one.text for one in filters.values()]
    index.add_all(pa.table({"id": pa.array(filters, pa.int64()), "filter": texts}))
    assert found(index, rows) == expected(filters, rows)


@pytest.mark.parametrize("shared", [1, 4])
def test_a_filter_is_a_candidate_only_where_an_element_of_it_is_there(
    trees: None, shared: int
) -> None:
    """A publication looks at the filters of its own tags alone, however many others there are."""
    tags, per_tag, sent = 2_000, 3, 5
    index = Index(SCHEMA, kind="columnar")
    texts = [
        f"array_contains(tags, 't{number % tags}')" if shared == 1 else
        "arrays_overlap(tags, array(" + ", ".join(
            f"'t{(number + step * 501) % tags}'" for step in range(shared)) + "))"
        for number in range(tags * per_tag)
    ]  # fmt: skip
    index.add_all(enumerate(texts))
    rows: list[Row] = [{"tags": [f"t{at * 7 + step}" for step in range(sent)]} for at in range(200)]
    matches = sum(map(len, index.match(rows).to_pylist()))
    assert matches == len(rows) * sent * per_tag * shared
    assert index.stats()["per_publication"]["candidates"] * len(rows) <= matches

"""Strings as keys: very many, in several attributes, and values that no filter names."""

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.matching.columnar.agree import assert_same, columnar, rows
from wherecast import Schema

ODD = [
    "",
    " ",
    "a",
    "A",
    "ab",
    "a\0",
    "a\0b",
    "é",
    "É",
    "ž",
    "日本",
    "😀",
    "\uffff",
    "it's",
    "z" * 300,
]
TEXT = Schema.from_dict({"s": "string"})


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''").replace("\0", "\\0") + "'"


def test_odd_strings_under_every_operator(way: str) -> None:
    """The order is that of code points, also beyond 16 bits; values lie on and between keys."""
    named = ODD[::2]
    texts = [f"s {op} {quoted(t)}" for op in ("=", "<>", "<", "<=", ">", ">=") for t in named]
    texts += [f"s BETWEEN {quoted(a)} AND {quoted(b)}" for a in named for b in named]
    texts += [f"s IN ({', '.join(map(quoted, named[:size]))})" for size in range(1, 9)]
    texts += [f"s NOT IN ({', '.join(map(quoted, named[-size:]))})" for size in range(1, 9)]
    values = [*ODD, *(text + "!" for text in ODD), *(text + "\0" for text in ODD), None]
    assert assert_same(TEXT, texts, pa.table({"s": values}))


def test_values_that_no_filter_names(way: str) -> None:
    texts = ["s = 'm'", "s <> 'm'", "s < 'm'", "s >= 'm'", "s NOT IN ('k', 'm')", "s LIKE '%q%'"]
    for value in ("l", "mm", "", "zzz"):
        assert assert_same(TEXT, texts, [{"s": value}])


@pytest.mark.usefixtures("trees")
def test_many_strings_in_several_attributes() -> None:
    """Strings are ranked together, so an attribute meets the keys of others."""
    schema = Schema.from_dict({f"s{place}": "string" for place in range(4)})
    count = 100_000
    texts = [f"s{k % 4} = 'k{k}'" for k in range(count)]
    draw = np.random.default_rng(2)
    keys = draw.integers(0, count + 10_000, (4, 3_000))

    found = columnar(schema, texts).match(
        pa.record_batch({f"s{p}": [f"k{k}" for k in keys[p].tolist()] for p in range(4)})
    )

    hits = (keys % 4 == np.arange(4)[:, None]) & (keys < count)
    for row, numbers in enumerate(rows(found)):
        assert numbers.tolist() == sorted(keys[hits[:, row], row].tolist())


@pytest.mark.usefixtures("trees")
def test_more_ends_of_text_ranges_than_cells() -> None:
    """40,000 ranges have 80,000 ends; values lie on them, between them and outside."""
    count = 40_000
    texts = [f"s BETWEEN 'k{k:06}b' AND 'k{k:06}d'" for k in range(count)]
    numbers = np.random.default_rng(3).integers(0, count + 1_000, 2_000).tolist()
    letters = ["a", "b", "bb", "c", "d", "dd", "e", ""]
    values = [(number, letters[place % 8]) for place, number in enumerate(numbers)]

    found = columnar(TEXT, texts).match(pa.record_batch({"s": [f"k{n:06}{x}" for n, x in values]}))

    for (number, letter), numbers in zip(values, rows(found), strict=True):
        inside = number < count and "b" <= letter <= "d"
        assert numbers.tolist() == ([number] if inside else [])


@pytest.mark.parametrize("count", [100_000, pytest.param(1_000_000, marks=pytest.mark.release)])
@pytest.mark.usefixtures("trees")
def test_up_to_a_million_strings(count: int) -> None:
    draw = np.random.default_rng(7)
    values = np.concatenate([draw.integers(0, count + 100_000, 20_000), [0, count - 1, count]])
    index = columnar(TEXT, [f"s = 'k{k}'" for k in range(count)])

    found = index.match(pa.record_batch({"s": [f"k{value}" for value in values.tolist()]}))

    assert found.counts.tolist() == (values < count).tolist()
    assert np.array(list(found.ids))[found.indices].tolist() == values[values < count].tolist()

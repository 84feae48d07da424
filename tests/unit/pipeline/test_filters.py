"""Tables of filters: what is kept, what is refused, what travels."""

import pickle
from typing import Any

import pyarrow as pa
import pytest

from wherecast import ConfigError, FilterError, Schema, Subscription
from wherecast.pipeline.filters import compile_filters, compile_subscriptions

SCHEMA = Schema.from_dict({"no2": {"type": "float", "max": 1000}, "city": "string", "n": "int"})


def table(ids: list[Any], texts: list[str | None], **kept: list[Any]) -> pa.Table:
    return pa.table({"id": ids, "filter": pa.array(texts, pa.string()), **kept})


def test_filters_are_sorted_by_id_with_what_is_kept() -> None:
    given = table(["b", "a"], ["no2 > 1", "n = 1"], mail=["b@x", "a@x"])

    filters, rejected = compile_filters(given, SCHEMA)

    assert rejected == []
    assert filters.ids.to_pylist() == ["a", "b"]
    assert filters.kept.to_pydict() == {"mail": ["a@x", "b@x"]}
    assert [filter.text for filter in filters.filters()] == ["n = 1", "no2 > 1"]
    assert filters.table().to_pydict() == {
        "id": ["a", "b"],
        "filter": ["n = 1", "no2 > 1"],
        "mail": ["a@x", "b@x"],
    }


def test_columns_may_be_kept_whatever_their_names() -> None:
    given = pa.Table.from_arrays([["a"], ["n = 1"], ["n = 1"], [7]], ["k", "t", "filter", "id"])

    filters, _ = compile_filters(given, SCHEMA)

    assert filters.kept.to_pydict() == {"filter": ["n = 1"], "id": [7]}


def test_publications_are_read_with_what_the_filters_name_or_with_all_that_is_declared() -> None:
    given = table([1, 2], ["NO2 > 1", "city = 'x' AND no2 < 3"])

    free, _ = compile_filters(given, SCHEMA)
    strict, _ = compile_filters(given, SCHEMA, enforced=True)

    assert free.schema.names == ("no2", "city")
    assert strict.schema == SCHEMA
    assert [attribute.name for attribute in free.named] == ["city", "no2"]


def test_the_index_is_kept_by_content() -> None:
    given = table([1, 2], ["n = 1", "n > 1"])
    first, _ = compile_filters(given, SCHEMA)
    same, _ = compile_filters(table([7, 8], ["n = 1", "n > 1"]), SCHEMA)
    other, _ = compile_filters(table([1, 2], ["n = 1", "n > 2"]), SCHEMA)

    assert pickle.loads(pickle.dumps(first)).index() is first.index()
    assert same.index() is first.index()  # the ids are beside the index, not in it
    assert other.index() is not first.index()
    assert first.index().match([{"n": 2}]).to_pylist() == [[1]]


def test_only_the_last_few_indexes_are_kept() -> None:
    made = [compile_filters(table([1], [f"n = {n}"]), SCHEMA)[0] for n in range(6)]
    oldest = made[0].index()
    for filters in made[1:]:
        filters.index()

    assert made[-1].index() is made[-1].index()
    assert made[0].index() is not oldest


def test_bad_filters_are_named_with_their_count() -> None:
    given = table(["a", "b", "c", None, "e"], ["n >", "m = 1", "n = 1", "n = 1", None])

    with pytest.raises(FilterError) as caught:
        compile_filters(given, SCHEMA)
    filters, rejected = compile_filters(given, SCHEMA, on_bad="skip")

    told = str(caught.value)
    assert told.startswith("4 filters cannot be used: 'a': ")
    assert told.endswith("None: the id is null; and 1 more")
    assert filters.ids.to_pylist() == ["c"]
    assert [(bad.id, bad.filter, bad.position) for bad in rejected] == [
        ("a", "n >", 2),
        ("b", "m = 1", 0),
        (None, "n = 1", None),
        ("e", None, None),
    ]


@pytest.mark.parametrize("on_bad", ["raise", "skip"])
def test_ids_occur_once(on_bad: Any) -> None:
    with pytest.raises(ConfigError, match=r"^1 id occurs more than once: 1 3 times$"):
        compile_filters(table([1, 1, 2, 1, None, None], ["n >"] * 6), SCHEMA, on_bad=on_bad)


def test_a_subscription_id_belongs_to_its_subscriber() -> None:
    mine, yours = Subscription("s", "n = 1", "ana"), Subscription("s", "n = 1", "ben")

    assert len(compile_subscriptions([mine, yours], SCHEMA)) == 2
    with pytest.raises(ConfigError, match="'ana/s' 2 times"):
        compile_subscriptions([mine, mine], SCHEMA)

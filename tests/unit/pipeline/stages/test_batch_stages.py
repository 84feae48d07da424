"""The stages, one by one."""

import numpy as np
import pyarrow as pa

from wherecast import Index, Matches, Schema, Subscription
from wherecast.pipeline.filters.loaded_filters import compile_subscriptions
from wherecast.pipeline.stages.batch_stages import NOTIFICATIONS, match, notify, validate

SCHEMA = Schema.from_dict({"no2": {"type": "float", "max": 1000}, "city": "string"})
BATCH = pa.RecordBatch.from_pylist(
    [
        {"no2": 45.0, "city": "Zagreb", "other": 1},
        {"no2": 1001.0, "city": "Split", "other": 2},
        {"no2": None, "city": "Zagreb", "other": 3},
    ]
)


def test_validate_tells_good_rows_from_dead_letters() -> None:
    valid = validate(BATCH, SCHEMA)

    assert valid.batch.to_pylist() == [
        {"no2": 45.0, "city": "Zagreb"},
        {"no2": None, "city": "Zagreb"},
    ]
    assert valid.rows.tolist() == [0, 2]
    (letter,) = valid.dead_letters
    assert letter.row == 1
    assert letter.reason == "attribute no2: 1001.0 is above its maximum 1000.0"


def test_a_dead_letter_has_every_problem_of_its_row() -> None:
    schema = Schema.from_dict({"a": {"type": "int", "max": 1}, "b": {"type": "int", "max": 1}})

    (letter,) = validate(pa.RecordBatch.from_pylist([{"a": 2, "b": 3}]), schema).dead_letters

    assert [problem.attribute for problem in letter.problems] == ["a", "b"]
    assert "; " in letter.reason


def test_match_speaks_of_the_good_rows() -> None:
    index = Index(SCHEMA)
    index.add_all({0: "no2 > 40", 1: "city = 'Zagreb'"})

    assert match(validate(BATCH, SCHEMA), index).to_pylist() == [[0, 1], [1]]


def test_a_subscriber_gets_a_publication_once() -> None:
    filters = compile_subscriptions(
        [
            Subscription("s2", "no2 > 40", "ben"),
            Subscription("s1", "city = 'Zagreb'", "ben"),
            Subscription("s1", "no2 > 10", "ana"),
        ],
        SCHEMA,
    )
    valid = validate(BATCH, SCHEMA)

    found = notify(match(valid, filters.parts), 100 + valid.rows, filters.kept)

    assert found.schema == NOTIFICATIONS
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("ana", 100, ["s1"]),
        ("ben", 100, ["s1", "s2"]),
        ("ben", 102, ["s1"]),
    ]


def test_a_subscriber_gets_a_publication_once_in_whatever_order_its_filters_match() -> None:
    subscribers = pa.array(["ana", "ana", "ben"])
    subscriptions = pa.record_batch(
        [subscribers, pa.array(["s1", "s2", "s1"])], ["subscriber", "subscription_id"]
    )
    matches = Matches(np.array([0, 3]), np.array([1, 2, 0], np.int32), range(3))

    found = notify(matches, np.array([5]), subscriptions)

    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("ana", 5, ["s1", "s2"]),
        ("ben", 5, ["s1"]),
    ]


def test_notifications_are_sorted_by_publication_too() -> None:
    filters = compile_subscriptions([Subscription("s", "TRUE", "ana")], SCHEMA)
    matches = match(validate(BATCH, SCHEMA), filters.parts)

    found = notify(matches, np.array([9, 3]), filters.kept)

    assert found.column("publication").to_pylist() == [3, 9]


def test_no_matches_are_no_notifications() -> None:
    filters = compile_subscriptions([Subscription("s", "no2 > 500", "ana")], SCHEMA)
    matches = match(validate(BATCH, SCHEMA), filters.parts)
    none = Matches(np.zeros(1, np.int64), np.zeros(0, np.int32), [])

    assert notify(matches, np.array([0, 1]), filters.kept).num_rows == 0
    assert notify(none, np.zeros(0, np.int64), filters.kept).schema == NOTIFICATIONS

"""What became of publications is told by their places in the call."""

import numpy as np

import wherecast as wc
from wherecast.broker.intake.intake import prepare
from wherecast.broker.intake.publish_outcome import outcome_of
from wherecast.store.records import Receipt

SCHEMA = wc.Schema.from_dict({"n": "int"})


def test_a_receipt_and_what_was_refused_before_it_come_together() -> None:
    given = [
        wc.Publication({"n": "x"}, "a"),
        wc.Publication({"n": 1}, "b"),
        wc.Publication({"n": 2}, "c"),
        wc.Publication({"n": 3}, "d"),
    ]
    prepared = prepare(given, "air", SCHEMA)
    receipt = Receipt(
        np.zeros(3, np.int32),
        np.array([-1, 7, -1]),
        np.array([True, False, False]),
        np.array([False, False, True]),
        at=0,
    )
    done = outcome_of(prepared, receipt)
    assert (done.accepted, done.duplicates, done.rejected) == (1, 1, 2)
    assert (done.first, done.last) == (7, 7)
    assert [(bad.row, bad.code) for bad in done.rejections] == [(0, "wrong_type"), (3, "conflict")]
    assert [row for row, _ in done.errors] == [0, 3]
    assert "d came before" in str(done.errors[1][1])
    nothing = outcome_of(prepared, None)
    assert (nothing.accepted, nothing.first, nothing.rejected) == (0, None, 1)


def test_a_part_of_a_call_counts_from_its_own_first_place() -> None:
    given = [wc.Publication({"n": value}, str(value)) for value in (0, "x", 2, 3, "y", 5)]
    prepared = prepare(given, "air", SCHEMA)
    receipt = Receipt(
        np.zeros(4, np.int32),
        np.array([4, 5, -1, 6]),
        np.array([False, False, False, False]),
        np.array([False, False, True, False]),
        at=0,
    )
    parts = [outcome_of(prepared, receipt, *part) for part in ((0, 2), (2, 2), (2, 5), (5, 6))]
    assert [(part.accepted, part.first, part.last) for part in parts] == [
        (1, 4, 4), (0, None, None), (1, 5, 5), (1, 6, 6),
    ]  # fmt: skip
    rejections = [[(bad.row, bad.code) for bad in part.rejections] for part in parts]
    assert rejections == [[(1, "wrong_type")], [], [(1, "conflict"), (2, "wrong_type")], []]

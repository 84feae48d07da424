"""What became of publications is told by their places in the call."""

import numpy as np

import wherecast as wc
from wherecast.gateway.intake import prepare
from wherecast.gateway.published import published
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
        0,
        np.array([-1, 7, -1]),
        np.array([True, False, False]),
        np.array([False, False, True]),
    )
    done = published(prepared, receipt)
    assert (done.accepted, done.duplicates, done.rejected) == (1, 1, 2)
    assert (done.first, done.last) == (7, 7)
    assert [(bad.row, bad.code) for bad in done.rejections] == [(0, "wrong_type"), (3, "conflict")]
    assert [row for row, _ in done.errors] == [0, 3]
    assert "d came before" in str(done.errors[1][1])
    nothing = published(prepared, None)
    assert (nothing.accepted, nothing.first, nothing.rejected) == (0, None, 1)

import pyarrow as pa
import pytest

from tests.contract.stores import SCHEMA, changes
from wherecast.model import ConfigError, SchemaError
from wherecast.store.changes.change_batches import (
    batch_of,
    check_changes,
    has_options,
    runs_of,
)
from wherecast.store.records import CHANGES, NO_CHANGES

ROWS = [("subscriber", "", "ana"), ("subscribe", "air", "ana", "1", "a"), ("forget", "", "ana")]


def test_rows_make_a_batch() -> None:
    filled = [row + ("",) * (6 - len(row)) for row in ROWS]
    assert batch_of(filled).equals(changes(*ROWS))
    assert batch_of([]).equals(NO_CHANGES)


def test_whether_some_change_has_options() -> None:
    options = '{"notices":true}'
    batch = changes(*ROWS, ("subscribe", "air", "ana", "1", "a", options), *ROWS)
    assert has_options(batch)
    assert has_options(batch.slice(3, 1))
    assert not has_options(batch.slice(0, 3))
    assert not has_options(batch.slice(4))
    assert not has_options(NO_CHANGES)


def test_runs_of_one_kind() -> None:
    batch = changes(*ROWS[:2], ROWS[1], ROWS[1], ROWS[2])
    assert [(kind, run.num_rows) for kind, run in runs_of(batch)] == [
        ("subscriber", 1),
        ("subscribe", 3),
        ("forget", 1),
    ]


def test_checks() -> None:
    check_changes(changes(("stream", "air", "", "", SCHEMA.to_json())))
    with pytest.raises(SchemaError):
        check_changes(changes(("stream", "air", "", "", '{"open":false,"attributes":{"a":"x"}}')))
    with pytest.raises(AssertionError):
        check_changes(pa.RecordBatch.from_pylist([], schema=CHANGES))
    with pytest.raises(AssertionError):
        check_changes(pa.RecordBatch.from_pydict({"a": [1]}))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("subscribe", "air", "ana", "s", "a", "{"), "the options of a subscription are no JSON"),
        (("subscribe", "air", "ana", "s", "a", '{"notice":true}'), "did you mean notices"),
        (("stream", "air", "", "", SCHEMA.to_json(), '{"keep_us":-1}'), "option keep_us"),
    ],
)
def test_options_that_cannot_be_read_are_refused(row: tuple[str, ...], message: str) -> None:
    good = ("subscribe", "air", "ana", "s", "a", '{"notices":true}')
    check_changes(changes(good, *ROWS))
    with pytest.raises(ConfigError, match=message):
        check_changes(changes(good, *ROWS, row))


def test_the_options_of_other_kinds_are_their_own() -> None:
    check_changes(changes(("offer", "", "", "", "", "{")))

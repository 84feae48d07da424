"""Notifications that nobody waits for, removed by the pipeline, which wrote them."""

from wherecast.store.contracts import Store


def trim_segments(store: Store) -> None:
    """Removes segments that the cursors of all subscribers have passed.

    Where a queue passes a limit, whoever delivers moves its cursor and counts what it lost: so
    nothing is removed here that was not acknowledged or counted.
    """
    end = store.batches.progress().sequence
    passed = min((cursor.through for _, cursor in store.cursors.all()), default=end)
    store.mailboxes.trim(min(passed, end))

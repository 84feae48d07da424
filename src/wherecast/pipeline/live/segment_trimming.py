"""Removes segments that every subscriber has acknowledged; done by the pipeline, their writer."""

from collections.abc import Iterator

from wherecast.store.contracts import Registry, Store


def trim_segments(store: Store) -> None:
    """Removes segments that the cursors of all subscribers have passed.

    Where a queue passes a limit, whoever delivers moves its cursor and counts what it lost: so
    nothing is removed here that was not acknowledged or counted.
    """
    store.mailboxes.trim(_passed(store, store.batches.progress().sequence))


def _passed(store: Store, end: int) -> int:
    """The sequence up to which all have acknowledged; a subscriber without a cursor has nothing.

    Cursors and subscribers both come by name, so that one walk finds who has no cursor. One that
    registers meanwhile may be taken for such: then nothing goes this time.
    """
    registered = _subscribers(store.registry)
    name = next(registered, None)
    for owner, cursor in store.cursors.all():
        end = min(end, cursor.through)
        if end == 0 or (name is not None and name < owner):
            return 0
        if name == owner:
            name = next(registered, None)
    return end if name is None else 0


def _subscribers(registry: Registry) -> Iterator[str]:
    """Every registered subscriber, by name."""
    after = ""
    while names := registry.subscribers(after):
        yield from names
        after = names[-1]

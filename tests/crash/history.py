"""What was in a log, written to the ledger before it is trimmed.

The verdict needs all publications and changes, also those that the log has not got any more. What
an earlier life wrote comes again.
"""

from collections.abc import Callable, Iterator

from tests.crash.ledger import Fact, Ledger
from wherecast.store.contracts import Log
from wherecast.store.position import Position

_ALL = 2**62


def kept_facts(log: Log, offset: int = 0, version: int = 0) -> Iterator[Fact]:
    """What a log has from an offset and a version on, but for what was compacted."""
    for entry in log.read(0, offset, _ALL, headers=True):
        assert entry.damage is None, entry.damage
        assert entry.headers is not None
        yield ["kept", entry.first, entry.headers.column("id").to_pylist()]
    for change in log.changes(version, log.changes_end()):
        assert change.damage is None, change.damage
        if change.compacted_to is None:
            rows = [list(row.values()) for row in change.changes.to_pylist()]
            yield ["kept change", change.version, change.acts_from[0], rows]


def recording(log: Log, ledger: Ledger) -> Callable[[Position], None]:
    """The function that trims a log after it has written down what is new in it."""
    trim, known = log.trim, {"kept": 0, "kept change": 0}

    def recorded(position: Position) -> None:
        for fact in list(kept_facts(log, known["kept"], known["kept change"])):
            ledger.write(*fact)
            known[fact[0]] = fact[1] + len(fact[-1])
        trim(position)

    return recorded

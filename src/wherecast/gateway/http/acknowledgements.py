"""Acknowledgements, as they are posted and as they come over a connection."""

from dataclasses import dataclass
from typing import Any

from wherecast.delivery import decode_cursor
from wherecast.gateway.courier import Courier
from wherecast.gateway.http.answers import Refused
from wherecast.gateway.http.documents import object_of
from wherecast.model.values import describe

_KEYS = ("through", "cursors")
_CURSORS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """What is acknowledged.

    Attributes:
        through: everything up to this sequence, if any.
        cursors: just these sequences.
    """

    through: int | None
    cursors: tuple[int, ...]

    def apply(self, courier: Courier, name: str) -> None:
        """Acknowledges; that is on disk when this returns.

        Raises:
            AcknowledgementError: one was never delivered; nothing of that step changed.
        """
        if self.through is not None:
            courier.ack_through(name, self.through)
        if self.cursors:
            courier.ack(name, self.cursors)


def acknowledgement_of(body: bytes | str) -> Acknowledgement:
    """The acknowledgement of a document: `{"through": cursor}` or `{"cursors": [cursor, …]}`.

    Raises:
        Refused: it is none.
        AcknowledgementError: a cursor in it is none.
    """
    given = object_of(body, _KEYS, ())
    if sum(given.get(key) is not None for key in _KEYS) != 1:
        raise Refused(422, "missing", "either through or cursors is needed")
    if given.get("through") is not None:
        return Acknowledgement(decode_cursor(given["through"]), ())
    return Acknowledgement(None, tuple(decode_cursor(one) for one in _listed(given["cursors"])))


def _listed(cursors: Any) -> list[Any]:
    if not isinstance(cursors, list) or not cursors:
        text = f"cursors is a list of cursors, not {describe(cursors) if cursors else 'empty'}"
        raise Refused(422, "wrong_type", text, "/cursors")
    if len(cursors) > _CURSORS_MAX:
        text = f"{len(cursors)} cursors, the limit is {_CURSORS_MAX} at once"
        raise Refused(422, "too_many", text, "/cursors")
    return cursors

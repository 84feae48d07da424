"""Acknowledgements, as they are posted and as they come over a connection."""

from typing import Any

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.delivery import decode_cursor
from wherecast.model.values import describe
from wherecast.server.http.messages.answers import Refused
from wherecast.server.http.messages.documents import object_of

_KEYS = ("through", "cursors")
_CURSORS_MAX = 10_000


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
        return Acknowledgement(decode_cursor(given["through"]))
    return Acknowledgement(None, tuple(decode_cursor(one) for one in _listed(given["cursors"])))


def _listed(cursors: Any) -> list[Any]:
    if not isinstance(cursors, list) or not cursors:
        text = f"cursors is a list of cursors, not {describe(cursors) if cursors else 'empty'}"
        raise Refused(422, "wrong_type", text, "/cursors")
    if len(cursors) > _CURSORS_MAX:
        text = f"{len(cursors)} cursors, the limit is {_CURSORS_MAX} at once"
        raise Refused(422, "too_many", text, "/cursors")
    return cursors

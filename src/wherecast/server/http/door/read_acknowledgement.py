"""Acknowledgements, as they are posted and as they come over a connection."""

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.delivery import decode_cursor
from wherecast.server.http.messages.acknowledgement_messages import AcknowledgementRequest
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.messages.reading import read_request


def read_acknowledgement(body: bytes | str) -> Acknowledgement:
    """The acknowledgement of a document: `{"through": cursor}` or `{"cursors": [cursor, …]}`.

    Raises:
        Refused: the document is no acknowledgement.
        AcknowledgementError: a cursor in it is none.
    """
    given = read_request(AcknowledgementRequest, body)
    if len(given) != 1:
        raise Refused(422, "missing", "either through or cursors is needed")
    if "through" in given:
        return Acknowledgement(decode_cursor(given["through"]))
    return Acknowledgement(None, tuple(map(decode_cursor, given["cursors"])))

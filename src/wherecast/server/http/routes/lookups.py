"""Streams and subscribers by the names in a path; an unknown name is answered with 404."""

from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.registrar.names import Named, checked_name
from wherecast.model import ConfigError, Schema
from wherecast.server.http.messages.error_messages import Refused


def stream_schema(core: BrokerCore, stream: str) -> Schema:
    """The schema of a stream.

    Raises:
        Refused: the stream is unknown; the message names the streams of the server.
    """
    name_of("stream", stream)
    try:
        return core.registrar.schema(stream)
    except ConfigError as error:
        raise Refused(404, "unknown_stream", str(error)) from None


def open_queue(core: BrokerCore, subscriber: str) -> None:
    """Opens the queue of a registered subscriber.

    Raises:
        Refused: no subscriber of this name is registered.
    """
    name_of("subscriber", subscriber)
    if not core.open_queue(subscriber):
        shown = subscriber if len(subscriber) <= 60 else f"{subscriber[:60]}…"
        text = f"subscriber {shown} is not registered; PUT /v1/subscribers/{shown} does it"
        raise Refused(404, "unknown_subscriber", text)


def name_of(what: Named, name: str) -> str:
    """The name, if it is a valid one.

    Raises:
        Refused: the name is empty, too long, or has characters that names may not have.
    """
    try:
        checked_name(what, name)
    except ConfigError as error:
        raise Refused(422, "bad_name", str(error)) from None
    return name

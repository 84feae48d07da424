"""Publishers of a broker in this process."""

from collections.abc import Iterable, Mapping
from typing import Any

from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.intake.publish_outcome import PublishOutcome
from wherecast.broker.registrar.names import checked_name
from wherecast.broker.registrar.registrar import DEFAULT_STREAM
from wherecast.model import ConfigError, Publication
from wherecast.model.values import describe


class Publisher:
    """Publishes under a name, which receivers see and within which ids are unique."""

    def __init__(self, name: str, core: BrokerCore) -> None:
        checked_name("publisher", name)
        self.name = name
        self._core = core

    def publish(
        self,
        attributes: Mapping[str, Any] | Publication,
        payload: bytes | None = None,
        id: str | None = None,
        stream: str = DEFAULT_STREAM,
    ) -> PublishOutcome:
        """Accepts one publication; a durable broker has it on disk when this returns.

        Args:
            attributes: names and values, or a whole `Publication`.
            payload: bytes that no filter looks at.
            id: unique among recent publications of this publisher in the stream; the same one
                again is a duplicate.
            stream: where it is published.

        Raises:
            PublicationError: the schema refuses it, or its id came before with another body.
            StoreError: it could not be stored.
        """
        if not isinstance(attributes, Publication):
            attributes = Publication(attributes, id, payload)
        elif payload is not None or id is not None:
            raise ConfigError("a Publication has its own payload and id")
        done = self._core.publish_one(attributes, stream, self.name)
        for _, error in done.errors:
            raise error
        return done

    def publish_all(
        self,
        publications: Iterable[Publication | Mapping[str, Any]],
        stream: str = DEFAULT_STREAM,
    ) -> PublishOutcome:
        """Accepts many publications in one step, but for those that are refused.

        Raises:
            ConfigError: these are no publications.
            StoreError: they could not be stored; none is.
        """
        given_one = isinstance(publications, Mapping | Publication | str | bytes)
        if given_one or not isinstance(publications, Iterable):
            what = describe(publications)
            raise ConfigError(f"publish_all takes a list of publications, not {what}")
        given = [one if isinstance(one, Publication) else Publication(one) for one in publications]
        return self._core.publish(given, stream, self.name)

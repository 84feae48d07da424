"""What the server needs of the process that it runs in."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.dispatch.publication_cache import Received
from wherecast.broker.intake.intake import PreparedPublications
from wherecast.broker.registrar.registrar import Registrar
from wherecast.model import StoreError
from wherecast.store.contracts import Store
from wherecast.store.records import Receipt


class CoreProtocol(Protocol):
    """A store with everything that works on it in this process.

    Attributes:
        store: what is kept.
        registrar: changes streams, subscribers and subscriptions.
        courier: has the queues.
    """

    store: Store
    registrar: Registrar
    courier: Courier

    def check(self) -> None:
        """Raises what ended matching or delivery, if something did."""
        ...

    @property
    def problem(self) -> StoreError | None:
        """Why matching or delivery does not get on, where that may heal by itself."""
        ...

    @property
    def figures(self) -> Mapping[str, Any]:
        """What matching has done, where this process matches: as `PipelineState` has it."""
        ...

    @property
    def queued_in_all(self) -> int | None:
        """Notifications in all queues, when limits were looked at last; None before that."""
        ...

    def register(self, name: str) -> bool:
        """Registers a subscriber and opens its queue; False where it was registered already."""
        ...

    def forget(self, name: str) -> bool:
        """Ends a subscriber with its subscriptions and its queue; False where it is unknown."""
        ...

    def open_queue(self, name: str) -> bool:
        """Opens the queue of a subscriber; False where nobody of this name is registered."""
        ...

    def accept(self, prepared: PreparedPublications) -> Receipt | None:
        """Appends publications that were prepared, and has them matched; None if none is good."""
        ...

    def received(self, sequences: Sequence[int]) -> list[Received | None]:
        """The publications of ascending sequences; None for one that is damaged."""
        ...

    def at_hand(self, sequences: Sequence[int]) -> list[Received] | None:
        """The same where all were published a moment ago, and nothing is to be read; else None."""
        ...

    def published(self, offsets: Sequence[int]) -> list[Received | None]:
        """The publications at ascending offsets of the first partition; None for a damaged one."""
        ...

    def queued(self, name: str) -> int:
        """How many stored notifications of a subscriber are not acknowledged."""
        ...

"""What became of subscriptions that were asked for."""

from dataclasses import dataclass
from typing import Literal

from wherecast.language import Filter
from wherecast.store.position import Position

Verdict = Literal["created", "changed", "unchanged"]


@dataclass(frozen=True, slots=True)
class SubscribeOutcome:
    """What became of one subscription.

    Attributes:
        filter: the filter as it was read, with its warnings.
        verdict: whether the subscription is new, another one than before, or the same.
        acts_from: the position from which it acts as it is now; None where it is the same.
    """

    filter: Filter
    verdict: Verdict
    acts_from: Position | None = None


@dataclass(frozen=True, slots=True)
class PutOutcome:
    """What became of the subscriptions of one call.

    Attributes:
        verdicts: one for each, in the order of the call.
        removed: number of subscriptions that ended.
        acts_from: the position from which the last change acts; None where nothing changed.
    """

    verdicts: tuple[Verdict, ...]
    removed: int
    acts_from: Position | None

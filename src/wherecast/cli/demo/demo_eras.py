"""The subscriptions of the demo as they change: an era per version of the filters."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from wherecast.cli.demo.demo_air import AirChange
from wherecast.model import Subscription

if TYPE_CHECKING:
    from wherecast.spark import FilterSet

KEEP = ("subscriber", "subscription_id")


@dataclass(frozen=True, slots=True)
class Era:
    """Some micro-batches, and the subscriptions in force.

    Attributes:
        version: of the filters.
        first: the first of the micro-batches.
        subscriptions: by the id of their filter.
    """

    version: int
    first: int
    subscriptions: dict[str, Subscription]

    def of(self, subscriber: str) -> dict[str, Subscription]:
        """The subscriptions of a subscriber by their id."""
        return {s.id: s for s in self.subscriptions.values() if s.subscriber == subscriber}


def begin(filters: "FilterSet", subscriptions: Iterable[Subscription]) -> Era:
    """The first era: adds the subscriptions to the filters."""
    given = {filter_id(s): s for s in subscriptions}
    return Era(filters.add(table(given.values())).version, 1, given)


def change(filters: "FilterSet", era: Era, change: AirChange) -> Era:
    """The next era: makes a change in the filters, which a running query follows."""
    put = {filter_id(s): s for s in change.put}
    removed = {filter_id(s) for s in change.removed}
    done = filters.remove(list(removed)) if removed else filters.add(table(put.values()))
    kept = {id: s for id, s in era.subscriptions.items() if id not in removed}
    return Era(done.version, change.after + 1, kept | put)


def filter_id(subscription: Subscription) -> str:
    """The id of the filter of a subscription: no two subscriptions have the same."""
    return f"{subscription.subscriber}/{subscription.id}"


def table(subscriptions: Iterable[Subscription]) -> pa.Table:
    """Subscriptions as filters with the columns `KEEP`."""
    given = list(subscriptions)
    return pa.table(
        {
            "id": [filter_id(s) for s in given],
            "filter": [s.filter for s in given],
            "subscriber": [s.subscriber for s in given],
            "subscription_id": [s.id for s in given],
        }
    )

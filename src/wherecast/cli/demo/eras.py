"""The subscriptions of the demo as they change: an era per version of the filters."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from wherecast.cli.demo.air import AirChange
from wherecast.model import Subscription

if TYPE_CHECKING:
    from wherecast.spark import FilterSet

KEEP = ("subscriber", "subscription_id")


@dataclass(frozen=True, slots=True)
class Era:
    """The micro-batches of one version of the filters.

    Attributes:
        version: version of the filters.
        first: number of the first of these micro-batches.
        subscriptions: the subscriptions in force, by the id of their filter.
    """

    version: int
    first: int
    subscriptions: dict[str, Subscription]


def begin(filters: "FilterSet", subscriptions: Iterable[Subscription]) -> Era:
    """The first era: adds the subscriptions to the filters."""
    by_id = {filter_id(s): s for s in subscriptions}
    return Era(filters.add(table(by_id.values())).version, 1, by_id)


def change(filters: "FilterSet", era: Era, change: AirChange) -> Era:
    """The next era: changes the filters, which a running query follows."""
    put = {filter_id(s): s for s in change.put}
    removed = {filter_id(s) for s in change.removed}
    done = filters.remove(list(removed)) if removed else filters.add(table(put.values()))
    others = {id: s for id, s in era.subscriptions.items() if id not in removed}
    return Era(done.version, change.after + 1, others | put)


def filter_id(subscription: Subscription) -> str:
    """The unique id of the filter of a subscription."""
    return f"{subscription.subscriber}/{subscription.id}"


def table(subscriptions: Iterable[Subscription]) -> pa.Table:
    """Subscriptions as filters with the columns `KEEP`."""
    rows = list(subscriptions)
    return pa.table(
        {
            "id": [filter_id(s) for s in rows],
            "filter": [s.filter for s in rows],
            "subscriber": [s.subscriber for s in rows],
            "subscription_id": [s.id for s in rows],
        }
    )
